"""A short question to a chat model whose reply only the program reads, such as one word."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from core.answering.context import TokenMeter
from core.errors import ModelUnavailable
from core.events import Service, ServiceFailed
from core.model import Handover, ModelTurn, Prompt, Restarted, TextDelta
from core.ports import ChatModel

TOO_SLOW = "It took longer than {:g} seconds to reply briefly."


async def brief_reply(
    model: ChatModel, prompt: Prompt, meter: TokenMeter, *, service: Service, most: int, seconds: float
) -> str:
    """Return what a model replies, in at most so many characters and *seconds*; nothing where it fails or says more.

    What that costs is counted by the *meter*, also where it is broken off.
    """
    said, turns, is_read = "", list[ModelTurn](), True
    try:
        async with asyncio.timeout(seconds), aclosing(model.stream(prompt, tools=())) as stream:
            async for item in stream:
                match item:
                    case TextDelta(text):
                        said += text
                    case Restarted() | Handover():
                        broken, said = said, ""
                        meter.change(item, prompt, broken)
                    case turn:
                        turns.append(turn)
                if len(said) > most:
                    break  # which ends the model's work at once
    except ModelUnavailable as error:
        meter.observer(ServiceFailed(service, str(error)))
        is_read = bool(said)
    except TimeoutError:
        meter.observer(ServiceFailed(service, TOO_SLOW.format(seconds)))
    finally:
        if is_read:
            meter.count(prompt, turns[0] if turns else ModelTurn(said))
    return said.strip() if turns else ""
