"""The `Embedder` that asks Cohere, with an estimate of its tokens."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, cast

from adapters.cohere.connection import CohereService, raising, unusable
from core.errors import EmbeddingUnavailable, Misconfigured
from core.model import Calibration, Vector

if TYPE_CHECKING:
    from cohere import AsyncClientV2, EmbedByTypeResponse
    from cohere.core.request_options import RequestOptions


TOKENS = re.compile(
    r"[A-Z]{1,2}(?![a-z])"  # abbreviations and constants
    r"|[A-Z][a-z]{0,4}|[a-z]{1,5}"  # words; camelCase is two
    r"|[^\sA-Za-z]"  # digits and all other marks
)
WIDE = re.compile(r"[^\s\u0000-\u07ff]")  # 机 and 🤖 count twice, é and я once
PLACEHOLDER = "."  # Cohere refuses texts without anything in them


def count_tokens(text: str) -> int:
    """Estimate how many tokens the text takes, without the marks around it."""
    wide = 0 if text.isascii() else len(WIDE.findall(text))
    return len(TOKENS.findall(text)) + wide


def cut(text: str, room: int) -> str:
    """Return the beginning of the text that takes at most *room* tokens."""
    if count_tokens(text) <= room:
        return text
    costs = accumulate(2 if WIDE.match(token) else 1 for token in TOKENS.findall(text))
    beyond = (token.start() for token, cost in zip(TOKENS.finditer(text), costs, strict=True) if cost > room)
    return text[: next(beyond)].rstrip()


def sendable(text: str) -> str:
    """Replace half characters, which no JSON can hold, and put one mark in a text with nothing to see in it."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    seen = any(character.isprintable() and not character.isspace() for character in whole)
    return whole if seen else PLACEHOLDER


def in_base64(response: object, *, count: int) -> list[str]:
    """Return what was answered for *count* texts; the client checks nothing of it. Raises `CallFailed`."""
    encoded: object = getattr(getattr(response, "embeddings", None), "base64", None)
    if not isinstance(encoded, list):
        raise unusable("it holds no vectors in base64")
    found = cast("list[str]", encoded)
    if len(found) != count:
        raise unusable(f"it holds {len(found)} vectors for {count} texts")
    return found


def decode(encoded: Sequence[str], *, dimension: int) -> list[Vector]:
    """Return vectors of *dimension* floats, each of length 1. Raises `CallFailed` if one is anything else."""
    import numpy as np

    try:
        rows = [base64.b64decode(text, validate=True) for text in encoded]
    except (binascii.Error, TypeError, ValueError):
        raise unusable("its vectors are not base64") from None
    lengths = {len(row) / 4 for row in rows}
    if lengths != {dimension}:
        found = " and ".join(f"{length:g}" for length in sorted(lengths))
        raise unusable(
            f"its vectors have {found} dimensions instead of {dimension}. Check COHERE_DIMENSION", by_operator=True
        )
    matrix = np.frombuffer(b"".join(rows), "<f4").reshape(len(rows), dimension).astype(np.float64)
    lengths_of = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not (np.isfinite(lengths_of).all() and (lengths_of > 0).all()):
        raise unusable("its vectors hold something that is not a number, or nothing but zeros")
    return (matrix / lengths_of).tolist()


BATCH = 96  # texts that Cohere takes at once
AT_ONCE = 4  # batches
WINDOW = 512  # tokens that the models before embed-v4 read
FIRST_WITH_DIMENSIONS = 4  # the version of the first model that can be asked for one

CALIBRATION = Calibration(midpoint=0.27, slope=20.0)
"""Not measured: there was no account to measure with.

The midpoint lies between the cosines that Cohere's own tutorial prints for embed-v4.0 and short texts: 0.34 for the
answer to a question, 0.19 and 0.14 for texts about something else. `footnote calibrate` measures it. Words do not
count, since a question may be in another language than the documents.
"""

InputType = Literal["search_query", "search_document"]


@dataclass(eq=False, repr=False, kw_only=True)
class CohereEmbedder(CohereService):
    """Embeds by Cohere, passages in batches, several at once; the client is made at first use.

    Texts are cut to the window here, by an estimate that rather counts too much.
    """

    setting = "COHERE_EMBED_MODEL"
    service = "embedder"
    window = WINDOW

    dimension: int
    calibration: Calibration = CALIBRATION

    @property
    def name(self) -> str:
        """The model with its dimensions, as the index notes it."""
        return f"{self.model}-{self.dimension}"

    def count_tokens(self, text: str) -> int:
        """Estimate, rather too much than too little."""
        return count_tokens(text)

    async def embed_query(self, text: str) -> Vector:
        """Embed what somebody looks for."""
        with raising(EmbeddingUnavailable):
            return (await self._embed([text], "search_query", self.timeouts.query, is_awaited=True))[0]

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed what can be found, in the same order; if one batch fails, the others are left."""
        room = asyncio.Semaphore(AT_ONCE)

        async def embed(batch: Sequence[str]) -> list[Vector]:
            async with room:
                return await self._embed(batch, "search_document", self.timeouts.passages)

        batches = [asyncio.create_task(embed(texts[at : at + BATCH])) for at in range(0, len(texts), BATCH)]
        try:
            with raising(EmbeddingUnavailable):
                return [vector for vectors in await asyncio.gather(*batches) for vector in vectors]
        finally:
            for batch in batches:
                batch.cancel()

    async def check(self) -> str:
        """Embed a word, and return by what and where. Raises `Misconfigured` if an operator has to change something."""
        with raising(EmbeddingUnavailable, refused=Misconfigured):
            await self._embed(["footnote"], "search_query", self.timeouts.query)
        return f"{self.model} ({self.dimension} dimensions) at {self.address}"

    async def _embed(
        self, texts: Sequence[str], input_type: InputType, seconds: float, *, is_awaited: bool = False
    ) -> list[Vector]:
        """Embed at most one batch, for somebody who may wait for an answer."""
        version = re.search(r"-v(\d+)", self.model)
        options: RequestOptions = {}
        if version is not None and int(version[1]) >= FIRST_WITH_DIMENSIONS:  # older ones cannot be asked for one
            options = {"additional_body_parameters": {"output_dimension": self.dimension}}
        prepared = await self.turns.each(lambda batch: [cut(sendable(text), WINDOW) for text in batch], texts)

        async def work(client: AsyncClientV2) -> EmbedByTypeResponse:
            return await client.embed(
                model=self.model,
                input_type=input_type,
                texts=prepared,
                embedding_types=["base64"],
                truncate="END",
                request_options=options,
            )

        response = await self.call(work, timeout=seconds, is_awaited=is_awaited)
        return await self.turns.each(partial(decode, dimension=self.dimension), in_base64(response, count=len(texts)))
