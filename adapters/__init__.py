"""Everything outside: each module here implements ports of the core with one vendor or platform."""
