"""The chat model that needs no account: it searches with the same tool and quotes what fits best."""

from adapters.extractive.model import ExtractiveModel

__all__ = ["ExtractiveModel"]
