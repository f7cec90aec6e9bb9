"""Doubles of the ports: scripted, recording or in memory, and documented like products."""
