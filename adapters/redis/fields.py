"""Fields of a hash that expires as a whole, some time after the newest of them."""

from __future__ import annotations

PUT_FIELD = """
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
"""
"""Takes the key of the hash, and the field, its value and the milliseconds that the hash lives from now on."""
