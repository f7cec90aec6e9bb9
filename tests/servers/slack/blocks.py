"""The limits of a message's parts: each refusal is the one that the platform gives."""

from __future__ import annotations

import json
from typing import Any, cast

from tests.servers.slack.messages import texts_of
from tests.servers.slack.refusals import Refusal, invalid_blocks
from tests.servers.slack.shape import Json

MESSAGE_BLOCKS, VIEW_BLOCKS = 50, 100
ALL_TEXT = 13_200  # characters over all blocks of a message
ALL_MARKDOWN = 12_000
TEXT, SECTION, HEADER, BUTTON, VALUE, ID = 40_000, 3_000, 150, 75, 2_000, 255
UPDATED_TEXT = 4_000
ELEMENTS = {"actions": 25, "context": 10, "context_actions": 5}
FIELDS = 10
KNOWN = {
    "actions",
    "card",
    "carousel",
    "container",
    "context",
    "context_actions",
    "data_table",
    "divider",
    "header",
    "image",
    "input",
    "markdown",
    "plan",
    "rich_text",
    "section",
    "table",
    "task_card",
    "video",
}


def read_blocks(given: object, *, most: int = MESSAGE_BLOCKS) -> list[Json]:
    """Give the blocks of an argument, with ids, after all have been checked. Raises `Refusal`."""
    blocks = _parsed(given)
    if len(blocks) > most:
        raise invalid_blocks(f"no more than {most} items allowed", "/blocks")
    for place, block in enumerate(blocks):
        _check(block, f"/blocks/{place}")
    ids = [block["block_id"] for block in blocks if block.get("block_id")]
    if len(set(ids)) != len(ids):
        raise invalid_blocks("`block_id` already exists", "/blocks")
    if sum(len(block.get("text") or "") for block in blocks if block["type"] == "markdown") > ALL_MARKDOWN:
        raise invalid_blocks(f"must be less than {ALL_MARKDOWN + 1} characters", "/blocks")
    if most == MESSAGE_BLOCKS and sum(map(len, texts_of(blocks))) > ALL_TEXT:
        raise Refusal("msg_blocks_too_long")
    return [{**block, "block_id": block.get("block_id") or f"b{place}"} for place, block in enumerate(blocks)]


def _parsed(given: object) -> list[Json]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            raise Refusal("invalid_blocks_format") from None
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in cast("list[object]", given)):
        raise Refusal("invalid_blocks_format")
    return cast("list[Json]", given)


def check_markdown(text: str) -> None:
    """Check a text that is given as markdown. Raises `Refusal`."""
    if len(text) > ALL_MARKDOWN:
        raise Refusal("msg_too_long")


def _check(block: Json, pointer: str) -> None:
    kind = block.get("type")
    if kind not in KNOWN:
        raise invalid_blocks(f"unsupported type: {kind}", f"{pointer}/type")
    if len(block.get("block_id") or "") > ID:
        raise invalid_blocks(f"must be less than {ID + 1} characters", f"{pointer}/block_id")
    match kind:
        case "section":
            _check_section(block, pointer)
        case "header":
            _check_text(block.get("text"), f"{pointer}/text", HEADER, kinds=("plain_text",))
        case "markdown":
            _check_length(block.get("text"), f"{pointer}/text", ALL_MARKDOWN)
        case "actions" | "context" | "context_actions":
            _check_elements(block, pointer, ELEMENTS[kind])
        case "input":
            _check_text(block.get("label"), f"{pointer}/label", VALUE, kinds=("plain_text",))
        case _:
            pass


def _check_section(block: Json, pointer: str) -> None:
    fields: list[Json] = block.get("fields") or []
    if "text" not in block and not fields:
        raise invalid_blocks("must define `fields` or `text`", pointer)
    if "text" in block:
        _check_text(block["text"], f"{pointer}/text", SECTION)
    if len(fields) > FIELDS:
        raise invalid_blocks(f"no more than {FIELDS} items allowed", f"{pointer}/fields")
    for place, one in enumerate(fields):
        _check_text(one, f"{pointer}/fields/{place}", VALUE)
    if "accessory" in block:
        _check_element(block["accessory"], f"{pointer}/accessory")


def _check_elements(block: Json, pointer: str, most: int) -> None:
    elements: list[Json] = block.get("elements") or []
    if not elements:
        raise invalid_blocks("no fewer than 1 items allowed", f"{pointer}/elements")
    if len(elements) > most:
        raise invalid_blocks(f"no more than {most} items allowed", f"{pointer}/elements")
    for place, element in enumerate(elements):
        where = f"{pointer}/elements/{place}"
        if block["type"] == "context":
            if element.get("type") != "image":
                _check_text(element, where, SECTION)
        else:
            _check_element(element, where)
    ids = [element["action_id"] for element in elements if "action_id" in element]
    if len(set(ids)) != len(ids):
        raise invalid_blocks("`action_id` already exists", f"{pointer}/elements")


def _check_element(element: Json, pointer: str) -> None:
    if len(element.get("action_id") or "") > ID:
        raise invalid_blocks(f"must be less than {ID + 1} characters", f"{pointer}/action_id")
    match element.get("type"):
        case "button":
            _check_button(element, pointer)
        case "feedback_buttons":
            for name in ("positive_button", "negative_button"):
                _check_button(element.get(name), f"{pointer}/{name}")
        case None:
            raise invalid_blocks("missing required field: type", pointer)
        case _:
            pass


def _check_button(button: Any, pointer: str) -> None:
    if not isinstance(button, dict):
        raise invalid_blocks("missing required field", pointer)
    given = cast("Json", button)
    _check_text(given.get("text"), f"{pointer}/text", BUTTON, kinds=("plain_text",))
    if len(given.get("accessibility_label") or "") > BUTTON:
        raise invalid_blocks(f"must be less than {BUTTON + 1} characters", f"{pointer}/accessibility_label")
    if len(given.get("value") or "") > VALUE:
        raise invalid_blocks(f"must be less than {VALUE + 1} characters", f"{pointer}/value")


def _check_text(text: Any, pointer: str, most: int, *, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")) -> None:
    if not isinstance(text, dict):
        raise invalid_blocks("must be a valid text object", pointer)
    given = cast("Json", text)
    if given.get("type") not in kinds:
        raise invalid_blocks(f"must be one of {', '.join(kinds)}", f"{pointer}/type")
    _check_length(given.get("text"), f"{pointer}/text", most)


def _check_length(text: Any, pointer: str, most: int) -> None:
    if not isinstance(text, str) or not text:
        raise invalid_blocks("must be more than 0 characters", pointer)
    if len(text) > most:
        raise invalid_blocks(f"must be less than {most + 1} characters", pointer)
