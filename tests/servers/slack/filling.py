"""What a form holds when somebody has filled it in."""

from __future__ import annotations

from typing import Any

from tests.servers.slack.messages import elements_of
from tests.servers.slack.shape import Json


def values_of(blocks: list[Json], given: Json) -> Json:
    """Give the state of a form, for what was filled in by the ids of actions or of blocks."""
    values: Json = {}
    for element in elements_of(blocks):
        if "action_id" not in element:
            continue
        action_id, block_id = str(element["action_id"]), str(element["block_id"])
        filled: Any = given.get(action_id, given.get(block_id))
        values.setdefault(block_id, {})[action_id] = {"type": element["type"], **_value(element, filled)}
    named = {name for block in blocks for name in (block.get("block_id"), *values.get(str(block.get("block_id")), ()))}
    assert set(given) <= named, f"the form has no {sorted(set(given) - named)}"
    return values


def _value(element: Json, filled: Any) -> Json:
    match element["type"]:
        case "radio_buttons" | "static_select":
            return {"selected_option": _option(element, filled) if filled is not None else None}
        case "checkboxes":
            return {"selected_options": [_option(element, one) for one in filled or ()]}
        case _:
            return {"value": element.get("initial_value") if filled is None else filled}


def _option(element: Json, value: str) -> Json:
    options: list[Json] = element.get("options") or []
    for option in options:
        if option["value"] == value:
            return option
    raise AssertionError(f"there is no option {value!r}")
