"""Passage indexes on Qdrant: in process, and (for a community that has one) on a server."""

from adapters.qdrant.edge import EdgeIndex
from adapters.qdrant.server import ServerIndex

__all__ = ["EdgeIndex", "ServerIndex"]
