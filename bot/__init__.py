"""Composition root and command line: the only place that knows everything."""
