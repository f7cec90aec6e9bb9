"""Slack as a platform: what is said there, and how answers appear."""
