"""Attacks by text: what is tried, a model that obeys all of it, and readers that see what became of it."""
