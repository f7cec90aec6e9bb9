"""The values of the product: frozen, validated, printable, and able to go to JSON and back."""

from core.model.address import Interaction, ReplyAddress
from core.model.answer import Answer, Citation, Status, ToolRecord
from core.model.backlog import Backlog, DeadLetter
from core.model.chat import ChatMessage, ModelTurn, Prices, Prompt, ToolCall, ToolSpec, Usage
from core.model.claim import MOST_ATTEMPTS, REPLACED, Cancellation, Claim, Delivery, Interruption, Task, Withdrawal
from core.model.conversation import Conversation, Turn
from core.model.documents import Document, EmbeddedPassage, Outline, Passage, Unreadable, Vector, heading
from core.model.inbound import Inbound, InboundKind, Setting
from core.model.notice import Notice
from core.model.places import ChannelRef, Message, MessageRef, Person, ThreadRef, WorkspaceRef
from core.model.policy import Actor, Deed, Policy
from core.model.progress import Drafted, PartialAnswer, Progress, Restarted, SearchFailed, Searching, TextDelta
from core.model.question import (
    CONTEXT_LIMIT,
    NO_QUESTION,
    QUESTION_LIMIT,
    SELECTION_LIMIT,
    Question,
    Reaction,
    Scope,
    Terms,
    without_controls,
)
from core.model.search import Candidate, Hit, IndexQuery, SearchResult
from core.model.signals import Asked, Deleted, Doubted, Edited, Retried, Signal, Stopped
from core.model.value import Value
from core.model.vote import Complaint, Tally, Vote

__all__ = [
    "CONTEXT_LIMIT",
    "MOST_ATTEMPTS",
    "NO_QUESTION",
    "QUESTION_LIMIT",
    "REPLACED",
    "SELECTION_LIMIT",
    "Actor",
    "Answer",
    "Asked",
    "Backlog",
    "Cancellation",
    "Candidate",
    "ChannelRef",
    "ChatMessage",
    "Citation",
    "Claim",
    "Complaint",
    "Conversation",
    "DeadLetter",
    "Deed",
    "Deleted",
    "Delivery",
    "Document",
    "Doubted",
    "Drafted",
    "Edited",
    "EmbeddedPassage",
    "Hit",
    "Inbound",
    "InboundKind",
    "IndexQuery",
    "Interaction",
    "Interruption",
    "Message",
    "MessageRef",
    "ModelTurn",
    "Notice",
    "Outline",
    "PartialAnswer",
    "Passage",
    "Person",
    "Policy",
    "Prices",
    "Progress",
    "Prompt",
    "Question",
    "Reaction",
    "ReplyAddress",
    "Restarted",
    "Retried",
    "Scope",
    "SearchFailed",
    "SearchResult",
    "Searching",
    "Setting",
    "Signal",
    "Status",
    "Stopped",
    "Tally",
    "Task",
    "Terms",
    "TextDelta",
    "ThreadRef",
    "ToolCall",
    "ToolRecord",
    "ToolSpec",
    "Turn",
    "Unreadable",
    "Usage",
    "Value",
    "Vector",
    "Vote",
    "Withdrawal",
    "WorkspaceRef",
    "heading",
    "without_controls",
]
