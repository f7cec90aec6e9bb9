"""The values of the product: frozen, validated, printable, and able to go to JSON and back."""

from core.model.answer import Answer, Citation, Status, ToolRecord
from core.model.chat import ChatMessage, ModelTurn, Prices, Prompt, ToolCall, ToolSpec, Usage
from core.model.conversation import Conversation, Turn
from core.model.documents import Document, EmbeddedPassage, Outline, Passage, Unreadable, Vector, heading
from core.model.places import Message, MessageRef, Person, ThreadRef
from core.model.progress import Progress, Restarted, SearchFailed, Searching, TextDelta
from core.model.question import (
    CONTEXT_LIMIT,
    NO_QUESTION,
    QUESTION_LIMIT,
    SELECTION_LIMIT,
    Claim,
    Delivery,
    Question,
    Reaction,
    Scope,
    without_controls,
)
from core.model.search import Candidate, Hit, IndexQuery, SearchResult
from core.model.value import Value

__all__ = [
    "CONTEXT_LIMIT",
    "NO_QUESTION",
    "QUESTION_LIMIT",
    "SELECTION_LIMIT",
    "Answer",
    "Candidate",
    "ChatMessage",
    "Citation",
    "Claim",
    "Conversation",
    "Delivery",
    "Document",
    "EmbeddedPassage",
    "Hit",
    "IndexQuery",
    "Message",
    "MessageRef",
    "ModelTurn",
    "Outline",
    "Passage",
    "Person",
    "Prices",
    "Progress",
    "Prompt",
    "Question",
    "Reaction",
    "Restarted",
    "Scope",
    "SearchFailed",
    "SearchResult",
    "Searching",
    "Status",
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
    "heading",
    "without_controls",
]
