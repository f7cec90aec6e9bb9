"""Calls that models write into their text, in the forms of many templates: they are made, and nobody sees them."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator

import pytest

from adapters.openai import OpenAIChat
from core.answering.agent import Agent
from core.answering.dialect import MARKDOWN
from core.model import Answer, Drafted, ModelTurn, Restarted, Status
from tests.adapters.openai.asking import ask, calls_of, shown
from tests.builders import hit, question
from tests.fakes.shelf import Shelf
from tests.servers.openai import DONE, ChatServer, chunk

ARGUMENTS = '{"query": "arms"}'
JSON = f'{{"name": "search_documents", "arguments": {ARGUMENTS}}}'
HERMES = f"<tool_call>\n{JSON}\n</tool_call>"
FENCE = f"```json\n{JSON}\n```"
DSML = (
    '<DSMLtool_calls>\n<DSMLinvoke name="search_documents">\n'
    '<DSMLparameter name="query" string="true">arms</DSMLparameter>\n</DSMLinvoke>\n</DSMLtool_calls>'
)
M3 = "]<]minimax[>["
FORMS = {
    "Hermes, upper case": HERMES.replace("tool_call", "TOOL_CALL"),
    "functions. in front": JSON.replace("search_documents", "functions.search_documents"),
    "Llama": '[search_documents(query="arms")]',
    "Llama, ipython": '<|python_tag|>search_documents.call(query="arms")',
    "bare": 'search_documents(query="arms")',
    "bare, with an object": f"search_documents({ARGUMENTS})",
    "bare, and an object": f"search_documents{ARGUMENTS}",
    "Gemma": '```tool_code\nsearch_documents(query="arms")\n```',
    "Gemma, printed": "```tool_code\nprint(search_documents(query='arms'))\n```",
    "Gemma 4": '<|tool_call>call:search_documents{query:<|"|>arms<|"|>}<tool_call|>',
    "Gemma 4, without its marks": "call:search_documents{query:arms}",
    "FunctionGemma": "<start_function_call>call:search_documents{query:<escape>arms<escape>}<end_function_call>",
    "Gemini": "call:default_api:search_documents{query:arms}",
    "Apertus": f'<|tools_prefix|>[{{"search_documents": {ARGUMENTS}}}]<|tools_suffix|>',
    "MiniMax M2": '<minimax:tool_call>\n<invoke name="search_documents">\n<parameter name="query">arms</parameter>\n'
    "</invoke>\n</minimax:tool_call>",
    "MiniMax M3": f'{M3}<tool_call>\n{M3}<invoke name="search_documents">{M3}<query>arms{M3}</query>{M3}</invoke>\n'
    f"{M3}</tool_call>",
    "LongCat": f"<longcat_tool_call>{JSON}</longcat_tool_call>",
    "GLM": "<tool_call>search_documents\n<arg_key>query</arg_key>\n<arg_value>arms</arg_value>\n</tool_call>",
    "Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.search_documents:0<|tool_call_argument_begin|>"
    f"{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
    "DeepSeek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_documents\n"
    f"```json\n{ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "DeepSeek, newer": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search_documents<｜tool▁sep｜>"
    f"{ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "DeepSeek, with marks of its own": DSML.replace("DSML", "｜DSML｜"),
    "DeepSeek, doubled and with blanks": DSML.replace("DSML", "｜｜DSML｜｜ "),
    "DeepSeek, half of it": DSML.partition("</")[0].replace("DSML", "‖DSML‖"),
    "Llama 4": '<|python_start|>[search_documents(query="arms")]<|python_end|>',
    "Nemotron": f"<TOOLCALL>[{JSON}]</TOOLCALL>",
    "Phi": f"functools[{JSON}]",
    "Seed": "<seed:tool_call>\n<function=search_documents>\n<parameter=query>arms</parameter>\n</function>\n"
    "</seed:tool_call>",
    "Anthropic": '<function_calls>\n<invoke name="search_documents">\n<parameter name="query">arms</parameter>\n'
    "</invoke>\n</function_calls>",
    "gpt-oss": f" to=functions.search_documents<|channel|>commentary json<|message|>{ARGUMENTS}",
    "gpt-oss, from the start": f"<|start|>assistant to=functions.search_documents<|channel|>commentary json<|message|>"
    f"{ARGUMENTS}<|call|>",
    "gpt-oss, thinking": "<|channel|>analysis<|message|>I call search_documents.<|end|><|start|>assistant<|channel|>"
    f"commentary to=functions.search_documents <|constrain|>json<|message|>{ARGUMENTS}<|call|>",
    "gpt-oss, without its marks": "analysisWe need to search.assistantcommentary to=functions.search_documents json"
    f"{ARGUMENTS}",
}
BEHIND_PROSE = {
    "Hermes": HERMES,
    "a fence": FENCE,
    "a line of JSON": f"\n{JSON}",
    "Llama": '\n[search_documents(query="arms")]',
    **{
        name: FORMS[name]
        for name in ("Hermes, upper case", "Gemma", "Gemma 4", "GLM", "Kimi", "DeepSeek", "Anthropic", "MiniMax M3")
    },
    "DeepSeek, with marks of its own": FORMS["DeepSeek, with marks of its own"],
}
UNSHOWN = re.compile(r"search_documents|tool|query|arms|<|function|\bto=", re.IGNORECASE)


def say(server: ChatServer, text: str, size: int = 3) -> None:
    """Script a text in pieces."""
    server.say(*(text[at : at + size] for at in range(0, len(text), size)))


@pytest.mark.promise("any-model")
@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_a_call_in_any_form_is_one(model: OpenAIChat, server: ChatServer, form: str, size: int) -> None:
    """Its name and its arguments are read, and none of it is shown."""
    say(server, form, size)
    items = await ask(model)
    assert isinstance(items[-1], ModelTurn)
    assert (calls_of(items[-1]), shown(items), items[-1].text) == ([("search_documents", ARGUMENTS)], "", "")


@pytest.mark.promise("any-model")
@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize("form", BEHIND_PROSE.values(), ids=BEHIND_PROSE)
async def test_a_call_behind_prose_is_one(model: OpenAIChat, server: ChatServer, form: str, size: int) -> None:
    """The prose is shown, as that of a call in a field of its own is."""
    prose = "I will use `grep`, and look [1] that up:\n"
    say(server, f"{prose}{form}\n", size)
    items = await ask(model)
    assert isinstance(items[-1], ModelTurn)
    assert calls_of(items[-1]) == [("search_documents", ARGUMENTS)]
    assert (shown(items).strip(), items[-1].text.strip()) == (prose.strip(), prose.strip())


async def drafts(agent: Agent, seen: list[str]) -> AsyncIterator[Answer]:
    """Put what readers see at each moment into *seen*; give the answer."""
    async for item in agent.run(question()):
        match item:
            case Drafted(answer):
                seen.append(MARKDOWN.write([block for blocks in answer.read() for block in blocks]))
            case Restarted():
                seen.append("")
            case Answer():
                yield item
            case _:
                pass


@pytest.mark.parametrize("before", ["I will look that up.\n", "A robot acts [1].\n"])
@pytest.mark.parametrize("form", [HERMES, FENCE, FORMS["GLM"]], ids=["Hermes", "a fence", "GLM"])
async def test_no_draft_shows_a_call_and_the_search_is_made(
    model: OpenAIChat, server: ChatServer, before: str, form: str
) -> None:
    """Also behind what would have been an answer."""
    say(server, before + form)
    say(server, "A robot acts [1].")
    seen, shelf = list[str](), Shelf(hit(text="A robot acts. It moves."))
    [answer] = [each async for each in drafts(Agent(model, shelf, clock=time.monotonic), seen)]

    assert (answer.status, [each.query for each in shelf.asked][1:]) == (Status.ANSWERED, ["arms"])
    assert not [text for text in (*seen, answer.text) if UNSHOWN.search(text)]


async def test_an_answer_stands_whose_call_may_not_be_made(model: OpenAIChat, server: ChatServer) -> None:
    """Once all searches are used up, what was said in front of it is the answer."""
    for _ in range(3):
        say(server, HERMES)
    say(server, f"A robot acts [1].\n{HERMES}")
    answer = await Agent(model, Shelf(hit(text="A robot acts. It moves.")), clock=time.monotonic).answer(question())
    assert (answer.status, answer.text) == (Status.ANSWERED, "A robot acts [1].")


@pytest.mark.parametrize(
    "text",
    [
        f"Write it like this: {JSON}",
        f"Write it like this: `{HERMES}`".replace("\n", ""),
        f"Some write this:\n\n```text\n{HERMES}\n```\n\nSo do it.",
        'A call looks like this:\n```json\n{"name": "look_up", "arguments": {"query": "arms"}}\n```\nDo you see?',
        'A call looks like this:\n{"name": "look_up", "arguments": {"query": "arms"}}\nDo you see?',
        'Like this:\n```xml\n<invoke name="look_up"><parameter name="query">arms</parameter></invoke>\n```',
        "<tool_call> is a mark, and so are <invoke name=…> and <｜tool▁calls▁begin｜>.",
        "[search_documents](https://docs.example) is a link.",
        "``<｜DSML｜tool_calls>`` is a mark, and functools[0] is none.",
        "search_documents (the tool) is a function, and so is search_documents(query).",
        "A tag of the newer MiniMax begins with\n]<]minimax, and\n]\nends a list.",
        "The list [a, [b]] and {c} and a <b> and <tools/>.\n- [ ] to do\n- [x] done\n[1]: see",
    ],
)
@pytest.mark.parametrize("size", [1, 1_000])
async def test_an_example_of_a_call_is_text(model: OpenAIChat, server: ChatServer, text: str, size: int) -> None:
    """In code, within a sentence without marks, or of a tool that nobody has offered."""
    say(server, text, size)
    items = await ask(model)
    assert isinstance(items[-1], ModelTurn)
    assert (shown(items), items[-1].tool_calls) == (text, ())


async def test_several_calls_in_one_text_are_made_in_order(model: OpenAIChat, server: ChatServer) -> None:
    """With numbers, truths and lists as they are."""
    say(server, "[search_documents(query=\"2018\", top_k=3), search_documents(query='it\\'s', chapter=None)]")
    turn = (await ask(model))[-1]
    assert isinstance(turn, ModelTurn)
    assert [arguments for _, arguments in calls_of(turn)] == [
        '{"query": "2018", "top_k": "3"}',
        '{"query": "it\'s", "chapter": null}',
    ]


async def test_a_name_with_more_around_it_is_that_of_its_tool(model: OpenAIChat, server: ChatServer) -> None:
    """Some servers leave what belongs to the model's template where it was."""
    for name in ("functions.search_documents", "search_documents<|channel|>commentary", "functions.search_documents:0"):
        call = {"index": 0, "id": "a", "function": {"name": name, "arguments": ARGUMENTS}}
        server.stream(chunk({"tool_calls": [call]}), chunk({}, finish="tool_calls"), DONE)
        turn = (await ask(model))[-1]
        assert isinstance(turn, ModelTurn)
        assert calls_of(turn) == [("search_documents", ARGUMENTS)]
