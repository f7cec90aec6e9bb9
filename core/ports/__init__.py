"""What the core needs from the world. Each port belongs to the core; adapters implement it."""
# What is imported here is for others.
# pyright: reportUnusedImport=false

from __future__ import annotations

from core.ports.community import CommunityStore, PolicyStore, Quota, VoteStore
from core.ports.services import (
    NOTHING_SEEN,
    OUTDATED,
    Catalogue,
    ChatModel,
    ChatSurface,
    DocumentSource,
    Embedder,
    Found,
    Membership,
    PassageIndex,
    Reranker,
    Retriever,
    Surface,
)
from core.ports.stores import (
    Accepting,
    Backlogged,
    ChannelCursor,
    ConversationStore,
    DeadLetters,
    Dedup,
    Deliveries,
    Inbox,
    Removals,
    Underway,
    Vault,
    WaitingRoom,
    WaitingWords,
)
