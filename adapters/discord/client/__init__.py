"""The way to Discord: a client with safe defaults, its limits, and what is posted through it."""
