"""Tests of the core, with fakes only."""
