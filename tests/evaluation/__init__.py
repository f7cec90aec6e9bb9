"""Test questions over a real textbook, answered by the embedded default."""
