"""From Cohere's base64 to vectors of length 1."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import cast

from adapters.cohere.connection import unusable
from core.model import Vector


def in_base64(response: object, *, count: int) -> list[str]:
    """Give what was answered for *count* texts; the client checks nothing of it. Raises `CallFailed`."""
    encoded: object = getattr(getattr(response, "embeddings", None), "base64", None)
    if not isinstance(encoded, list):
        raise unusable("it holds no vectors in base64")
    found = cast("list[str]", encoded)
    if len(found) != count:
        raise unusable(f"it holds {len(found)} vectors for {count} texts")
    return found


def decode(encoded: Sequence[str], *, dimension: int) -> list[Vector]:
    """Give vectors of *dimension* numbers, each of length 1. Raises `CallFailed` if one is no such."""
    import numpy as np

    try:
        rows = [base64.b64decode(text, validate=True) for text in encoded]
    except (binascii.Error, TypeError, ValueError):
        raise unusable("its vectors are no base64") from None
    lengths = {len(row) / 4 for row in rows}
    if lengths != {dimension}:
        found = " and ".join(f"{length:g}" for length in sorted(lengths))
        raise unusable(
            f"its vectors have {found} numbers instead of {dimension}. Check COHERE_DIMENSION", by_operator=True
        )
    matrix = np.frombuffer(b"".join(rows), "<f4").reshape(len(rows), dimension).astype(np.float64)
    lengths_of = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not (np.isfinite(lengths_of).all() and (lengths_of > 0).all()):
        raise unusable("its vectors hold something that is no number, or nothing but zeros")
    return (matrix / lengths_of).tolist()
