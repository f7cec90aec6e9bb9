"""What the core needs from the world. Each port belongs to the core; adapters implement it."""

from __future__ import annotations

from core.ports.services import (
    ChatModel,
    ChatSurface,
    DocumentSource,
    Embedder,
    Membership,
    PassageIndex,
    Reranker,
    Retriever,
    Surface,
)
from core.ports.stores import (
    Accepting,
    Backlogged,
    ConversationStore,
    DeadLetters,
    Deliveries,
    Inbox,
    LastHeard,
    Memo,
    PersonalData,
    PolicyStore,
    Quota,
    Underway,
    Vault,
    VoteStore,
    WaitingRoom,
)

__all__ = [
    "Accepting",
    "Backlogged",
    "ChatModel",
    "ChatSurface",
    "ConversationStore",
    "DeadLetters",
    "Deliveries",
    "DocumentSource",
    "Embedder",
    "Inbox",
    "LastHeard",
    "Membership",
    "Memo",
    "PassageIndex",
    "PersonalData",
    "PolicyStore",
    "Quota",
    "Reranker",
    "Retriever",
    "Surface",
    "Underway",
    "Vault",
    "VoteStore",
    "WaitingRoom",
]
