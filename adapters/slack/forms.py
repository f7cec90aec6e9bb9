"""The forms, and what people fill in. A form carries all that is needed to read it, so that none is remembered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from adapters.slack.dialect import plain
from adapters.slack.interactions import InteractionContext
from core.messages import COMPLAINTS, TELL_MORE
from core.model import QUESTION_LIMIT, Complaint

View: TypeAlias = dict[str, Any]

MARK = "footnote"
SELECTION_FORM = f"{MARK}:selection"
REASONS_FORM = f"{MARK}:reasons"
LONGEST_FIELD = 3_000  # characters

QUESTION, TEXT, REASONS = "question", "text", "reasons"  # of the blocks, and of the fields in them


def selection_form(text: str, context: InteractionContext) -> View:
    """Return a form for a question about a text; people can cut the text down to what they mean."""
    words = {"type": "plain_text_input", "multiline": True, "max_length": LONGEST_FIELD}
    return {
        **_form(SELECTION_FORM, "Answer from this"),
        "private_metadata": json.dumps(
            {
                "channel": context.channel,
                "thread": context.thread_ts if context.is_inside else "",
                "way": context.response_url,
                "at": int(context.at.timestamp()),
            }
        ),
        "blocks": [
            _field(QUESTION, "Question", {"type": "plain_text_input", "max_length": QUESTION_LIMIT}),
            _field(TEXT, "Text", {**words, "initial_value": text[:LONGEST_FIELD]}),
        ],
    }


def reasons_form(answer_id: str) -> View:
    """Return a form that asks what is wrong with an answer; nobody can write there, so that no words are kept."""
    options = [{"text": plain(words), "value": complaint.value} for complaint, words in COMPLAINTS.items()]
    boxes = _field(REASONS, TELL_MORE, {"type": "checkboxes", "options": options})
    form = _form(REASONS_FORM, "Not helpful")
    return {**form, "private_metadata": answer_id, "blocks": [{**boxes, "optional": True}]}


def words_form(sentence: str) -> View:
    """Return a sentence to be shown where a form was."""
    said = {"type": "section", "text": plain(sentence)}
    return {"type": "modal", "title": plain("Footnote"), "close": plain("Close"), "blocks": [said]}


def _filled(view: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return what was filled in, by the fields' names."""
    state: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]] = view.get("state") or {}
    return {name: field for fields in (state.get("values") or {}).values() for name, field in fields.items()}


def selection_in(view: Mapping[str, Any]) -> tuple[str, str]:
    """Return the question and the text that somebody has sent."""
    fields = _filled(view)
    return str(fields.get(QUESTION, {}).get("value") or ""), str(fields.get(TEXT, {}).get("value") or "")


def complaints_in(view: Mapping[str, Any]) -> tuple[Complaint, ...]:
    """Return the reasons that somebody has chosen, in the order in which they were offered."""
    options: list[Mapping[str, Any]] = _filled(view).get(REASONS, {}).get("selected_options") or []
    chosen = {option.get("value") for option in options}
    return tuple(each for each in COMPLAINTS if each.value in chosen)


def carried(metadata: str) -> tuple[str, str, str, datetime]:
    """Return what a form for a question carries: its channel and thread, the way back, and when it was shown.

    Raises `ValueError` for what no such form carries.
    """
    try:
        kept: dict[str, Any] = json.loads(metadata)
        shown = datetime.fromtimestamp(int(kept["at"]), UTC)
        place = str(kept["channel"]), str(kept.get("thread", "")), str(kept["way"])
    except (LookupError, AttributeError, TypeError, RecursionError, OverflowError, OSError) as error:
        raise ValueError("a form") from error
    if not (place[0] and place[2]):
        raise ValueError("a form")
    return *place, shown


def returned(view: Mapping[str, Any], context: InteractionContext) -> InteractionContext:
    """Return who has sent a form, with the place and the way back of when it was shown."""
    channel, thread, way, shown = carried(str(view["private_metadata"]))
    there = replace(context, channel=channel, thread_ts=thread, is_inside=bool(thread))
    return replace(there, response_url=way, url_since=shown)


def _form(callback_id: str, title: str) -> View:
    words = {"title": plain(title), "submit": plain("Send"), "close": plain("Cancel")}
    return {"type": "modal", "callback_id": callback_id, **words}


def _field(name: str, label: str, element: Mapping[str, object]) -> dict[str, Any]:
    return {"type": "input", "block_id": name, "label": plain(label), "element": {**element, "action_id": name}}
