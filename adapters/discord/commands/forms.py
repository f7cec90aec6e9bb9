"""The forms, and what people fill in. A form's id holds all that is needed to read it, so that none is remembered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapters.discord.buttons import MARK
from core.messages import COMPLAINTS, TELL_MORE
from core.model import QUESTION_LIMIT, Complaint

if TYPE_CHECKING:
    from discord.ui import Item, Modal

SELECTION_FORM = f"{MARK}:selection"
REASONS_FORM = rf"{MARK}:why:(?P<answer>[0-9a-f]{{1,64}})"
MENU_NAME = "Answer from this message"
LONGEST_FIELD = 4_000  # characters

_QUESTION, _TEXT, _REASONS = "question", "text", "reasons"


def selection_form(text: str) -> Modal:
    """Ask for a question about a text; people can cut the text down to what they mean."""
    from discord import TextStyle
    from discord.ui import TextInput

    return _form(
        SELECTION_FORM,
        MENU_NAME,
        {
            "Question": TextInput[Any](custom_id=_QUESTION, max_length=QUESTION_LIMIT),
            "Text": TextInput[Any](
                custom_id=_TEXT, style=TextStyle.paragraph, default=text[:LONGEST_FIELD], max_length=LONGEST_FIELD
            ),
        },
    )


def reasons_form(answer_id: str) -> Modal:
    """Ask what is wrong with an answer; there is nothing to write, so that no words of people are kept."""
    from discord import CheckboxGroupOption
    from discord.ui import CheckboxGroup

    options = [CheckboxGroupOption(label=words, value=complaint.value) for complaint, words in COMPLAINTS.items()]
    boxes = CheckboxGroup[Any](
        custom_id=_REASONS, options=options, required=False, min_values=0, max_values=len(options)
    )
    return _form(f"{MARK}:why:{answer_id}", "Not helpful", {TELL_MORE: boxes})


def selection_in(submitted: Mapping[str, Any]) -> tuple[str, str]:
    """Read the question and the text."""
    filled = dict(_filled(submitted.get("components") or ()))
    return str(filled.get(_QUESTION) or ""), str(filled.get(_TEXT) or "")


def complaints_in(submitted: Mapping[str, Any]) -> tuple[Complaint, ...]:
    """Read the reasons, in the order in which they were offered."""
    chosen = dict(_filled(submitted.get("components") or ())).get(_REASONS)
    return tuple(each for each in COMPLAINTS if isinstance(chosen, list) and each.value in chosen)


def _form(custom_id: str, title: str, fields: Mapping[str, Item[Any]]) -> Modal:
    from discord.ui import Label, Modal

    form = Modal(title=title, custom_id=custom_id)
    for label, field in fields.items():
        form.add_item(Label[Any](text=label, component=field))
    return form


def _filled(parts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, object]]:
    """Return what was filled in, by the fields' ids, however deep they lie in the form."""
    for part in parts:
        inner = [*(part.get("components") or ()), *([part["component"]] if part.get("component") else ())]
        yield from _filled(inner)
        if "custom_id" in part:
            yield str(part["custom_id"]), part.get("values", part.get("value"))
