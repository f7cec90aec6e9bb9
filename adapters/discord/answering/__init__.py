"""Where and how answers appear."""
