"""What the core needs from the world. Each port belongs to the core; adapters implement it."""

from __future__ import annotations

from core.ports.documents import DocumentSource, PassageIndex, Retriever
from core.ports.models import ChatModel, Embedder, Reranker
from core.ports.stores import (
    AuditLog,
    ConversationStore,
    Deliveries,
    Inbox,
    Memo,
    PersonalData,
    PolicyStore,
    Quota,
    Vault,
    VoteStore,
)
from core.ports.surfaces import ChatSurface, Surface

__all__ = [
    "AuditLog",
    "ChatModel",
    "ChatSurface",
    "ConversationStore",
    "Deliveries",
    "DocumentSource",
    "Embedder",
    "Inbox",
    "Memo",
    "PassageIndex",
    "PersonalData",
    "PolicyStore",
    "Quota",
    "Reranker",
    "Retriever",
    "Surface",
    "Vault",
    "VoteStore",
]
