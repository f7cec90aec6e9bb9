"""The real command, run as a person runs it."""
