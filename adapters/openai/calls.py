"""The tool calls of one turn: put together from fragments, or read from the text of a model that writes them there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import uuid4

from adapters.openai.refusals import BrokenAnswer, EndlessAnswer, fields_of
from core.model import ToolCall

MOST_ARGUMENTS = 20_000  # characters of all calls of a turn; a query of 2,000 has at most 12,000 in JSON
MOST_DRAFTS = 64  # calls of a turn; far more than are ever made
ENDLESS = "tool calls without an end in sight"


@dataclass(slots=True)
class PartialCall:
    """A call as far as it has come, or one piece of it; what is missing is empty."""

    index: int | None
    id: str
    name: str
    arguments: list[str]
    extra: Any

    def repeats(self, piece: PartialCall) -> bool:
        """Return whether the arguments of a piece are all that came until now, with more or less of them behind it.

        Some services begin with an empty object, or send all of a call once more, or in each piece.
        """
        given = piece.arguments[0]
        if not given.startswith("{") or (piece.id and self.id and piece.id != self.id):
            return False
        come = "".join(self.arguments).strip()
        return piece.name in {"", self.name} and (come == "{}" or (len(come) > 1 and given.startswith(come)))

    def ends_before(self, piece: PartialCall) -> bool:
        """Return whether the piece begins another call, although index or id say that it belongs to this one.

        Some services number every call 0, some repeat the name or change the id with every piece. A piece that names a
        tool after the arguments are whole begins another call; a piece with neither name nor id never does.
        """
        if piece.id and self.id and piece.id != self.id:
            return bool(piece.name) or is_object("".join(self.arguments))
        if piece.name and self.name and piece.name != self.name:
            return any(self.arguments)
        return bool(piece.name and piece.arguments[0].strip()) and is_object("".join(self.arguments))


@dataclass(slots=True)
class ToolCalls:
    """The calls of one turn, put together from fragments, which differ from service to service."""

    _drafts: list[PartialCall] = field(default_factory=list[PartialCall])
    _size: int = 0

    @property
    def are_whole(self) -> bool:
        """Whether there is a call, and each has arguments that are complete."""
        return bool(self._drafts) and all(is_object("".join(draft.arguments)) for draft in self._drafts)

    def add(self, pieces: object) -> None:
        """Take the `tool_calls` of one event, whatever it is; arguments that came as an object are written out.

        Raises `EndlessAnswer` for more than anybody could want to call.
        """
        for raw in cast("list[Any]", pieces) if isinstance(pieces, list) else []:
            if not isinstance(raw, dict):
                continue
            fields = fields_of(raw)
            function, index = fields_of(fields.get("function")), fields.get("index")
            arguments = function.get("arguments")
            if not isinstance(arguments, str):
                arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
            index, name = index if isinstance(index, int) else None, words_of(function.get("name"))
            piece = PartialCall(index, words_of(fields.get("id")), name, [arguments], fields.get("extra_content"))
            self._size += len(arguments) + len(name) + 1
            if self._size > MOST_ARGUMENTS:
                raise EndlessAnswer(ENDLESS)
            draft = self._draft_of(piece)
            if draft and draft.repeats(piece):
                draft.arguments.clear()
            elif draft is None or draft.ends_before(piece):
                if len(self._drafts) == MOST_DRAFTS:  # each piece is looked for among them
                    raise EndlessAnswer(ENDLESS)
                self._drafts.append(piece)
                continue
            draft.id = draft.id or piece.id
            draft.name += name if name != draft.name else ""  # one that is repeated is the same
            draft.arguments += piece.arguments
            draft.extra = piece.extra or draft.extra

    def _draft_of(self, piece: PartialCall) -> PartialCall | None:
        """Return the call that a piece seems to belong to, by its index, by its id, or as the last one."""
        newest = reversed(self._drafts)
        if piece.index is not None:
            return next((each for each in newest if each.index == piece.index), None)
        last = self._drafts[-1] if self._drafts else None
        return next((each for each in newest if not piece.id or each.id == piece.id), last)

    def finish(self, tools: Sequence[str]) -> tuple[tuple[ToolCall, ...], dict[str, Any]]:
        """Return the calls, each with an id of its own, and what the service wants back with them, by id."""
        calls: list[ToolCall] = []
        extras: dict[str, Any] = {}
        for draft in self._drafts:
            id_, arguments = draft.id, mended("".join(draft.arguments))
            if not id_ or any(call.id == id_ for call in calls):
                id_ = new_id()
            name = tool_named(draft.name, tools)
            if not name:  # some services put it into the id, and where there is one tool, it is no other
                named = [tool for tool in tools if tool in draft.id] or list(tools)
                if len(named) != 1 or not (draft.id or arguments):
                    raise BrokenAnswer("a tool call without a name")
                name = named[0]
            calls.append(ToolCall(id=id_, name=name, arguments=arguments or "{}"))
            if draft.extra:
                extras[id_] = draft.extra
        return tuple(calls), extras


STRONG = (
    *("<tool_call>", "<tool_calls>", "<|tool_call|>", "<|tool_calls|>", "<|tool_call_start|>", "<|tool_call_begin|>"),
    *("<|tool_calls_section_begin|>", "<function_call>", "<function_calls>", "<functioncall>", "<tools>", "<tool_use>"),
    *("<minimax:tool_call>", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "[tool_calls]", "<|python_tag|>"),
    *("<|start_action|>", "<|action_start|>", "<|plugin|>", "<|python_start|>", "<seed:tool_call>", "<toolcall>"),
    *("<|tool_call>", "<start_function_call>", "<|function_call|>", "<longcat_tool_call>", "<|tools_prefix|>"),
)
"""What models write in front of a call that should have been none of their words, in lower case."""
DSML = ("<｜dsml｜", "<｜｜dsml｜｜", "<|dsml|", "<‖dsml‖", "]<]minimax[>[")
"""What stands in each mark of a call of newer models of DeepSeek and MiniMax, and in nothing else."""
WEAK = ("```json", "```tool_call", "```tool_code", "```xml", "```", "[", "functools[")
"""What stands in front of much else too."""
NAMING = (
    *("<function=", '<function="', '<function name="', '<invoke name="', "functions.", "print("),
    *("call:default_api:", "declaration:default_api:", "call:", "function<｜tool▁sep｜>", "to=functions."),
)
"""What stands right before the name of a tool."""
MARKS = (*STRONG, *DSML, *WEAK, *NAMING[:4])
"""Those that may stand anywhere."""
_BEGUN = frozenset(mark[:size] for mark in (*STRONG, *DSML, *WEAK, *NAMING) for size in range(1, len(mark)))
NAMES = ("name", "tool", "tool_name", "function", "function_name")
ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input", "kwargs")
BESIDE: Mapping[str, Sequence[str]] = {"id": (), "type": ("function", "tool_call", "tool_use")}
"""What else may stand in front of the name, and what it may be."""
EXPECTED = frozenset({*NAMES, *ARGUMENTS, *BESIDE})
_NAME = re.compile(r"[^\w.-]")
_KEY = re.compile(r'"(\w{1,20})"\s*:\s*')
_BEGUN_KEY = re.compile(r'(?:"(?:\w{0,20}(?:"\s*(?::\s*)?)?)?)?\Z')
_TEXT = re.compile(r'"([^"\\]{0,80})("?)')
_BRACKET = re.compile(r"[{\[]")
_BRACE = re.compile(r"[^{]{0,99}(?=\{)")
_VALUE = r'"(?:[^"\\]|\\.)*+"|\'(?:[^\'\\]|\\.)*+\'|[^\s,(){}=][^,(){}=]*+'
_KEYWORD = re.compile(rf"\s*+(\w++)\s*+[=:]\s*+({_VALUE})\s*+([,)}}])", re.DOTALL)
_BEGUN_KEYWORDS = re.compile(r"\s*+(?:\.call)?\s*+[({](?=\s*+\w++\s*+[=:])")
_QUOTE = re.compile(r'<\|"\|>|<escape>')  # as Gemma writes it
_GIVEN = re.compile(r"\{|\(\s*(?:[{\"')]|\w+\s*=)")
_BEGUN_GIVEN = re.compile(r"(?:\(\s*(?:\w+\s*)?)?")
_PAIR = re.compile(
    r'\s*(?:<parameter(?:=| name=)"?([\w-]+)"?[^<>]*>|<arg_key>\s*([\w-]+)\s*</arg_key>\s*<arg_value>)\s*(.*?)\s*'
    r"(?=<(?:/?parameter|/?arg_|/function|/invoke|/tool_call)|\Z)(?:</(?:parameter|arg_value)>)?",
    re.DOTALL,
)
_TO_PAIRS = re.compile(r'["\s>]*(?=<(?:parameter|arg_key))')
_OF_DSML = re.compile(r"(?<=<)(/?)[｜|‖]{1,2}DSML[｜|‖]{1,2} ?", re.IGNORECASE)
_OF_M3 = re.compile(r"\]<\]minimax\[>\[(?:<(?!/?(?:tool_call|invoke)\b)(/?)(\w+)>)?")  # in front of each tag
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
MOST_WRAPPERS = 8  # in front of one call
HEAD = 4_000  # characters in which a call names its tool


def begins_call(text: str, tools: Sequence[str], *, is_line: bool = True) -> bool | None:
    """Return whether a text begins with a call of one of the *tools*; None while it may become one.

    Most words and code are told apart from calls by their first characters. Without a mark in front of it, only what
    begins a line is a call.
    """
    rest, is_strong, is_marked = text[:HEAD].lstrip(), False, is_line
    for _ in range(MOST_WRAPPERS):
        begun = rest[:40].lower()
        if begun in _BEGUN:
            return None
        if begun.startswith(DSML):
            return True
        wrapper = next((mark for mark in (*STRONG, *WEAK) if begun.startswith(mark)), None)
        if wrapper is None:
            break
        is_strong, is_marked = is_strong or wrapper in STRONG, is_marked or wrapper != "["
        rest = rest[len(wrapper) :].lstrip()
    if not rest:
        return None
    if not is_marked and not rest.startswith("<"):
        return False
    if rest.startswith("{"):
        return _names_tool(rest[1:].lstrip(), tools, is_sure=is_strong)
    naming = next((mark for mark in NAMING if rest.lower().startswith(mark)), "")
    return _is_one(rest[len(naming) :], tools, is_sure=is_strong or naming.startswith("<"))


def _is_one(text: str, tools: Sequence[str], *, is_sure: bool = True) -> bool | None:
    """Return whether a text begins with the name of a tool; None while it may become one.

    Where that is not *sure* to be a call, arguments have to follow.
    """
    if "functions.".startswith(text):
        return None
    text = text.removeprefix("functions.")
    name = _NAME.split(text, maxsplit=1)[0].removesuffix(".call")
    if len(name) == len(text):
        return None if any(f"{tool}.call".startswith(text) for tool in tools) else False
    if name not in tools or is_sure:
        return name in tools
    rest = text[len(name) :].removeprefix(".call").lstrip()
    return None if _BEGUN_GIVEN.fullmatch(rest) else _GIVEN.match(rest) is not None


def _names_tool(inner: str, tools: Sequence[str], *, is_sure: bool = False) -> bool | None:
    """Return whether the beginning of an object names one of the *tools*, if it is *sure* to be a call as a key too."""
    while found := _KEY.match(inner):
        key, rest = found[1], inner[found.end() :]
        if key not in EXPECTED or not rest:
            return is_sure and key in tools if key not in EXPECTED else None
        if key in ARGUMENTS:
            return None  # the name may come behind them
        if key in NAMES:
            if rest[0] == "{":
                return _names_tool(rest[1:].lstrip(), tools)
            return rest[0] == '"' and _is_one(rest[1:], tools)
        text = _TEXT.match(rest)
        if text is None or not text[2] or (BESIDE[key] and text[1] not in BESIDE[key]):
            return None if text and not text[2] else False
        inner = rest[text.end() :].lstrip(" \n\r\t,")
    return None if _BEGUN_KEY.match(inner) else False


def written_calls(text: str, tools: Sequence[str]) -> tuple[ToolCall, ...]:
    """Return the calls that a text makes; where one of them cannot be read, its tool is given the text as it is."""
    text = _QUOTE.sub('"', _OF_DSML.sub(r"\1", text[-MOST_ARGUMENTS:]))
    text = _OF_M3.sub(lambda tag: ("</parameter>" if tag[1] else f"<parameter={tag[2]}>") if tag[2] else "", text)
    found = list(_of_json(text, tools)) or list(_of_names(text, tools))
    named = [(tool_named(name, tools), arguments) for name, arguments in found]
    calls = [ToolCall(id=new_id(), name=name, arguments=given or "{}") for name, given in named if name in tools]
    return tuple(calls[:MOST_DRAFTS])


def tool_named(name: str, tools: Sequence[str]) -> str:
    """Return the name of the tool that is meant by a name with marks, a number or `functions.` around it."""
    plain = _NAME.split(name.removeprefix("functions."), maxsplit=1)[0]
    return plain if name not in tools and plain in tools else name


def _of_names(text: str, tools: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the calls in which a tool's name stands in front of the arguments, each behind the one before it."""
    pattern, at = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, tools))})(?![\w-])"), 0
    for _ in range(MOST_DRAFTS):
        if (found := pattern.search(text, at)) is None:
            return
        given, at = _given(text, found.end())
        yield found[0], given


def _given(text: str, at: int) -> tuple[str, int]:
    """Return the arguments at a place as JSON, and where they end: keywords, pairs of marks, or an object.

    All that there is is returned where they are none of these.
    """
    pairs, end = dict[str, object](), at
    if found := _BEGUN_KEYWORDS.match(text, at):
        end = found.end()
        while found := _KEYWORD.match(text, end):
            pairs[found[1]], end = _value(found[2].strip()), found.end()
            if found[3] != ",":
                break
    elif found := _TO_PAIRS.match(text, at):
        end = found.end()
        while found := _PAIR.match(text, end):
            pairs[found[1] or found[2]], end = _value(found[3]), found.end()
    elif text[at : at + 1] != '"' and (found := _BRACE.match(text, at)):
        with suppress(ValueError, RecursionError):
            end = json.JSONDecoder().raw_decode(text, found.end())[1]
            return text[found.end() : end], end
    return (json.dumps(pairs, ensure_ascii=False), end) if pairs else (text[at:], len(text))


def _value(text: str) -> object:
    """Return what a model has written as an argument; a number stays a text, which may be what is asked for."""
    if text in _WORDS or (text[:1] == "'" and len(text) > 1):
        return _WORDS.get(text, text[1:-1].replace("\\'", "'"))
    with suppress(ValueError, RecursionError):
        return json.loads(text) if text[:1] in {'"', "[", "{"} else text
    return text


def _of_json(text: str, tools: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the calls among the JSON in a text, one value behind the other."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(MOST_DRAFTS):
        if (found := _BRACKET.search(text, at)) is None:
            return
        try:
            value, at = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            at = found.end()
            if text[found.start()] == "{":
                return  # what stands in half an object is no call
            continue
        yield from _named(value if isinstance(value, list) else [value], tools)  # pyright: ignore[reportUnknownArgumentType] - a model's JSON


def _named(values: Iterable[object], tools: Sequence[str]) -> Iterator[tuple[str, str]]:
    for value in values:
        fields = fields_of(value)
        inner = next((fields[key] for key in NAMES if isinstance(fields.get(key), dict)), None)
        fields = fields_of(inner) or fields
        fields = next(({"name": tool, "arguments": fields[tool]} for tool in tools if tool in fields), fields)
        key = next((key for key in NAMES if isinstance(fields.get(key), str)), None)
        if key is None:
            continue
        others = {name: each for name, each in fields.items() if name != key and name not in BESIDE}
        given = next((fields[each] for each in ARGUMENTS if each in fields), others)
        yield fields[key], given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def new_id() -> str:
    """Return an id that every service takes: some want exactly nine letters and digits."""
    return uuid4().hex[:9]


def is_object(text: str) -> bool:
    """Return whether the text is a whole JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def mended(text: str) -> str:
    """Return a text in which the halves of characters that came apart are joined, and single ones are replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def words_of(content: object) -> str:
    """Return the text of a content, which some services send as a list of parts, thoughts among them."""
    if isinstance(content, str):
        return content
    parts = [fields_of(part) for part in cast("list[Any]", content)] if isinstance(content, list) else []
    return "".join(words_of(part.get("text")) for part in parts if part.get("type") == "text")
