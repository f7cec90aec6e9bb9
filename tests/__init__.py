"""The tests; see docs/architecture.md for how they are arranged."""
