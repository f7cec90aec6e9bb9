"""Readers of files, one kind after the other."""
