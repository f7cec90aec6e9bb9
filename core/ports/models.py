"""What reads and writes text."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from core.model import Calibration, ModelTurn, Passage, Prompt, Restarted, TextDelta, ToolSpec, Vector


class ChatModel(Protocol):
    """A model that writes text and calls tools."""

    @property
    def reads_history(self) -> bool:
        """Whether it words a follow-up as a full query by itself; if not, the search blends in the question before."""
        ...

    def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[TextDelta | Restarted | ModelTurn, None]:
        """Yield text as it comes, then one `ModelTurn` with the whole text and any tool calls.

        `Restarted` takes back the text of a broken attempt. Raises `ModelUnavailable`. Closing the generator early
        ends the work at once.
        """
        ...


class Embedder(Protocol):
    """Turns text into vectors of length 1; queries and passages have a method each, so that they are not confused."""

    @property
    def name(self) -> str:
        """What the vectors depend on: model and version. An index made under another name is refused."""
        ...

    @property
    def dimension(self) -> int:
        """The number of floats in a vector."""
        ...

    @property
    def window(self) -> int:
        """How many tokens of a passage are read; what is longer is not seen."""
        ...

    @property
    def calibration(self) -> Calibration:
        """How a cosine of this embedder becomes a relevance between 0 and 1."""
        ...

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens as the window counts them, without the marks around the text.

        Raises `Misconfigured` if what it counts with is missing.
        """
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of what somebody looks for. Raises `EmbeddingUnavailable`."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return a vector for each text that can be found, in their order. Raises `EmbeddingUnavailable`."""
        ...


class Reranker(Protocol):
    """Scores passages against a query more carefully than vectors can."""

    async def rerank(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Return a relevance between 0 and 1 for each passage, in their order. Raises `RetrievalUnavailable`."""
        ...
