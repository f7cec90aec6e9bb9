"""The index on a Qdrant server, driven over a real socket."""
