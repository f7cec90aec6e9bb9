"""Cohere's embeddings and reranking, behind the ports of the core."""

from adapters.cohere.connection import CohereTimeouts
from adapters.cohere.embedder import CohereEmbedder
from adapters.cohere.reranker import CohereReranker

__all__ = ["CohereEmbedder", "CohereReranker", "CohereTimeouts"]
