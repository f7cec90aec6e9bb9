"""A sentence is held against the passages that it names: by words, numbers, names and code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.answering.agent import Agent
from core.answering.citations import Sources
from core.answering.claims import FOUNDED, Evidence, Statement
from core.answering.deeds import deeds
from core.answering.markup import read
from core.messages import NOTHING_DONE
from core.model import Status
from tests.answers import written
from tests.builders import hit, question
from tests.fakes.chat import ScriptedChatModel, turn
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.unit.conftest import Script

EVALUATION = Path(__file__).parents[1] / "evaluation"
ARM = "The robot arm lifts up to 5 kg and moves with a speed of 0.40 m/s. Call `lift_arm()` from arm_driver.py."
EYE = "The camera of the robot takes 30 pictures in a second, and the operator Kelvin looks at them in the evening."
BOTH = (1, 2)
SHELF = (
    "The robot arm lifts crates in the hall with a gripper, which the people in it look at.",
    "The robot arm lifts boxes gently with a soft gripper of rubber.",
    "The soft gripper opens by 8 cm.\n\nThis happens in the other hall too.\n\nUp to 12 of the guests may watch it.",
    "The spokes of a wheel are 12 to 15 cm long, and they are controlled by a man with a tool of copper.",
    "### Install\n\n```bash\nsudo apt install docker\nsystemctl start docker\nsystemctl status daemon\n```",
)


@pytest.fixture(name="evidence")
def _evidence() -> Evidence:
    evidence = Evidence(said="What can the robot do in Berlin?")
    evidence.add(1, ARM)
    evidence.add(2, EYE)
    return evidence


@pytest.mark.parametrize(
    ("sentence", "named", "place"),
    [
        ("The arm of the robot can lift 5 kg.", 1, 1),
        ("The arm of the robot can lift 5 kg.", 2, 1),
        ("The arm of the robot can lift 7 kg.", 1, None),
        ("The arm of the robot can lift 5 g.", 1, None),
        ("It moves with a speed of 0.4 m/s.", 1, 1),
        ("You move the arm with `lift_arm()` in arm_driver.py.", 1, 1),
        ("You move the arm with `drop_arm()` in arm_driver.py.", 1, None),
        ("In the evening, the operator Kelvin looks at the pictures.", 2, 2),
        ("In the evening, the operator Einstein looks at the pictures.", 2, None),
        ("It was invented by a famous physicist on the moon.", 1, None),
        ("It acts.", 1, 1),
        ("Albert Einstein.", 2, None),
        ("The operator Kelvin.", 2, 2),
        ("Der Roboter hebt mit seinem Arm fünf Kilogramm.", 2, 2),
        ("Der Roboter hebt mit seinem Arm 9 Kilogramm.", 1, None),
    ],
)
def test_a_mark_names_the_passage_that_holds_its_sentence(
    evidence: Evidence, sentence: str, named: int, place: int | None
) -> None:
    """It moves there, or goes; of what is too short, or in another language, words say nothing."""
    assert evidence.place(sentence, named, BOTH) == place


@pytest.mark.parametrize(
    ("sentence", "named", "place"),
    [
        ("With its soft gripper of rubber the robot arm lifts boxes gently.", 1, 2),
        ("The robot arm lifts crates in the hall.", 1, 1),
        ("Controllers of the wheels are made of copper.", 4, 4),
        ("The soft gripper opens by 8 cm.", 3, 3),
        ("The soft gripper opens by 12 cm.", 3, None),
        ("The spokes of the wheel are between 12 and 15 cm long.", 4, 4),
        ("The spokes of the wheel are between 12 and 12 cm long.", 4, None),
        ("You start the daemon of docker with systemctl.", 5, 5),
        ("You plant the tomatoes in April with a small shovel.", 5, None),
        ("You start the daemon of docker on a Contoso with systemctl.", 5, None),
    ],
)
def test_a_mark_stays_only_where_most_of_its_sentence_is(sentence: str, named: int, place: int | None) -> None:
    """A passage beside it has some of the words too, and a small number somewhere; commands have words like prose."""
    evidence = Evidence()
    for number, text in enumerate(SHELF, 1):
        evidence.add(number, text)

    assert evidence.place(sentence, named, range(1, 6)) == place


ARMS = """The following table lists the maximum payload and the reach of each robot arm.

| Arm | Payload | Reach |
|---|---|---|
| UR3 | 3 kg | 500 mm |
| UR5 | 5 kg | 850 mm |
| UR10 | 10 kg | 1300 mm |"""
ITEMS = "The connection of the client to the server has these settings:\n\n- Timeout: 5 s\n- Retries: 3\n- Workers: 8"
RETRIES = "In ROS 2, the parameter `max_retries` sets how often a failed request is sent again. Its default is 3."
RUNS = "The planner runs every 2 s on the laptop. The node computes the wheel commands on the robot. It runs at 50 Hz."
PLANS = "The planner computes the path of the robot on the laptop every 2 s. It gives up after 5 s."
LIMITS = (
    "## 3 Limits of it\n\nThe gateway handles requests of clients one after the other.\n\nAt most 16 are open at once."
)
EYES = ("The camera of the robot publishes images at 30 Hz.", "The depth sensor of the robot publishes at 30 Hz.")
PORTS = "Run the container with `docker run -p 8080:8080 web`, so that your machine has its port."
FACTS = [  # each with passages, of which the first holds it
    ("The UR5 robot arm has a maximum payload of 5 kg", ARMS),
    ("The UR3 has a reach of 500 mm", ARMS),
    ("The parameter `max_retries` sets how often a failed request is sent again, with a default of 3", RETRIES),
    ("A client connects to the server with a timeout of 5 s", ITEMS),
    ("The client connects to the server with 3 retries", ITEMS),
    ("The node computes the commands for the wheels on the robot at 50 Hz", RUNS),
    ("The planner computes the path of the robot on the laptop, and stops after 5 s", PLANS),
    ("The gateway handles at most 16 requests of clients", LIMITS),
    ("The first robot publishes at 10 Hz and the second robot publishes at 10 Hz", "Both robots publish at 10 Hz."),
    ("The camera publishes images at 30 Hz and the depth sensor at 30 Hz", *EYES),
    ("The depth sensor publishes at 30 Hz and the camera at 30 Hz", *EYES[::-1]),
    ("Publish port 8080 of the container as port 8080 of your machine", PORTS),
    ("Set ROS_DOMAIN_ID to 42 on the robot and to 42 on the laptop", "Set ROS_DOMAIN_ID to 42 on robot and laptop."),
    (
        "An account is locked after 5 failed attempts",
        "After 5 failed attempts an account is locked, and 3 people hear it.",
    ),
    ("Run it with 4 workers on such machines", "Use 4 workers on machines with 8 cores."),
    ("The web interface uses port 8080", "- Port 8080 is for the web interface, with at most 100 connections."),
    ("A maximum of 10 books can be borrowed", "Maximum 10 books can be borrowed, of which 2 may be reference works."),
    (
        "In version 1.4 the limit for uploads rose to 200 pages",
        "## Version 1.4\n\nThe limit for uploads rose to 200 pages (#345).",
    ),
    (
        "Since version 3.12 the server listens on port 8080",
        "Release 3.12\nThe server listens on port 8080 instead of 9090.",
    ),
    (
        "In 2023, the office moved to Berlin with 120 people",
        "History: 2023\nThe office moved to Berlin with 120 people and 14 dogs.",
    ),
    (
        "If the mode is 1, only one worker starts",
        "If the mode is 1, a single worker starts; with 2, more workers start.",
    ),
]


@pytest.mark.parametrize("mark", [" [1]", ""])
@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact[0])
async def test_an_answer_of_one_fact_keeps_its_footnote(fact: tuple[str, ...], mark: str, script: Script) -> None:
    """Its number stands in a row, an item or a sentence with few of its words; one number may be said of two things."""
    said, *texts = fact
    hits = [hit(text=text, url=f"https://docs.example/{number}") for number, text in enumerate(texts)]
    answer = await Agent(script(turn(f"{said}{mark}.")), Shelf(*hits), clock=Clock()).answer(question())

    assert (answer.status, answer.text.count("[1]")) == (Status.ANSWERED, 1)
    assert not mark or answer.citations[0].url == "https://docs.example/0"


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("The camera takes 12 pictures of it.", "The camera takes 30 pictures of it. It is loud. Up to 12 may see it."),
        ("The course runs between week 7 and week 7.", "The course runs between week 5 and week 7."),
        ("The nodes of the demo need ROS 1.", "The nodes of the demo need ROS 2 too. They are small. It lasts 1 hour."),
    ],
)
def test_a_mark_goes_where_the_passage_has_another_number_in_its_place(sentence: str, text: str) -> None:
    """Though the number stands in it somewhere."""
    evidence = Evidence()
    evidence.add(1, text)

    assert evidence.place(sentence, 1, (1,)) is None


def test_a_mark_moves_to_no_passage_in_another_language(evidence: Evidence) -> None:
    """Nobody knows whether that one is about the same; a number in it is not enough."""
    evidence.add(3, "Der Arm des Roboters hebt höchstens 7 kg und fährt danach ganz von selbst langsam zurück.")

    assert evidence.place("The arm of the robot can lift 7 kg.", 1, (1, 2, 3)) is None


GERMAN = "Der Arm des Roboters hebt höchstens fünf Kilogramm und fährt danach langsam zurück in seine Ruhelage."


@pytest.mark.parametrize("foreign", [GERMAN, "机器人的手臂最多可以举起五公斤的重量,然后慢慢地回到原来的位置。"])
def test_words_of_two_languages_are_not_compared(evidence: Evidence, foreign: str) -> None:
    """Neither beside passages in the language of the answer, nor where there are no others."""
    evidence.add(3, foreign)
    only = Evidence(said="How much can the arm of the robot lift?")
    only.add(1, foreign)
    only.add(2, "```bash\nsudo apt install docker\n```")

    assert evidence.place("It can take heavy things and then returns.", 3, (1, 2, 3)) == 3
    assert evidence.place("What the camera shows is seen in the evening by a person in the city.", 2, (1, 2, 3)) == 2
    assert only.place("It can take heavy things and then returns.", 2, (1, 2)) == 2
    assert only.held(Statement("It can take heavy things and then returns."), enough=0.5) == 1


def test_what_was_asked_is_no_claim_of_the_model(evidence: Evidence) -> None:
    """Whoever asks may name things that no passage does."""
    assert evidence.held(Statement("In Berlin the robot arm lifts 5 kg."), enough=0.5) > 0.5
    assert evidence.held(Statement("In the city Paris the robot arm lifts 5 kg."), enough=0.5) == 0


def test_a_passage_that_the_model_was_not_given_gets_no_mark(evidence: Evidence) -> None:
    """There was no room for it."""
    assert evidence.place("The arm of the robot can lift 5 kg.", 2, (2,)) is None


def test_the_sentence_of_a_mark_ends_where_it_stands() -> None:
    """Before the full stop or behind it, with other marks between."""
    assert Evidence().claim_before("Robots see. Robots act\ufffc", "") == "Robots act"
    assert Evidence().claim_before("Robots see. Robots act.\ufffc ", "") == "Robots act."
    assert Evidence().claim_before("by 8 cm\ufffc", "A gripper. It opens\ufffc") == "A gripper. It opens | by 8 cm"


async def test_a_sentence_that_no_passage_holds_is_told(script: Script) -> None:
    """The answer stays, as most of it is held."""
    said = "The robot arm lifts 5 kg [1]. It moves with 0.4 m/s [1]. Einstein built it for 900 dollars in Vienna [1]."
    answer = await Agent(script(turn(said)), Shelf(hit(text=ARM)), clock=Clock()).answer(question())

    assert answer.status is Status.ANSWERED
    assert answer.text.count("[1]") == 2
    assert answer.text.endswith(
        "_I didn't find this in the documents: “Einstein built it for 900 dollars in Vienna.”._"
    )


@pytest.mark.parametrize(
    "said",
    [
        "There are 2 steps:\n\n1. Use 5 kg [1].\n2. Call `lift_arm()` [1].",
        "You can do this in 3 easy steps:\n\n- Use 5 kg [1].\n- Call `lift_arm()` [1].",
        "To polish the shoes, follow these 3 steps:\n\n- Use 5 kg [1].\n- Call `lift_arm()` [1].",
        "Here are the key facts at a glance, based on the documentation:\n\n- It lifts 5 kg [1].",
        "Sure, I'd be happy to walk you through this step by step. The robot arm lifts 5 kg [1].",
        "It lifts 5 kg [1]. Let me know if you'd like me to explain any of these points in more detail.",
        "It lifts 5 kg [1]. I hope this helps, and feel free to ask me about anything else!",
        "It lifts 5 kg [1]. The documents do not say how fast it drives.",
        "Step 1: Have the robot arm lift 5 kg [1].\n\nStep 2: Call `lift_arm()` [1].",
        "**Step 7:** Have the robot arm lift 5 kg [1].",
    ],
)
async def test_what_states_no_fact_is_not_looked_for(said: str, script: Script) -> None:
    """What leads in, counts the answer's own items, offers more, or tells what is in no document."""
    answer = await Agent(script(turn(said)), Shelf(hit(text=ARM)), clock=Clock()).answer(question())

    assert answer.status is Status.ANSWERED
    assert (answer.text.count("[1]"), "I didn't find" in answer.text) == (said.count("[1]"), False)


@pytest.mark.parametrize(
    "said",
    [
        "I can tell that Albert Einstein built it in Vienna.",
        "I would give it a load of 900 kg.",
        "It takes a load of 900 kg, as follows:",
        "It does this with ROS 3:",
    ],
)
def test_a_fact_among_such_words_is_looked_for(said: str, evidence: Evidence) -> None:
    """A name or a number is one."""
    assert evidence.claim(said).is_checkable
    assert evidence.held(evidence.claim(said), enough=FOUNDED) == 0


@pytest.mark.parametrize(
    ("asked", "rows", "shown"),
    [
        ("What does it do?", ["Load | 5 kg [1]", "Speed | 0.4 m/s [1]"], ["Load | 5 kg [1]", "Speed | 0.4 m/s [1]"]),
        ("What does it do?", ["Load | 5 kg", "Speed | 0.4 m/s"], ["Load | 5 kg [1]", "Speed | 0.4 m/s [1]"]),
        ("What does it do?", ["Load | 5 kg | [1]", "Pace | 7 m/s | [1]"], ["Load | 5 kg | [1]", "Pace | 7 m/s | "]),
        ("What does it do?", ["Load | 9 kg | [1]", "Speed | 7 m/s | [1]"], []),
        ("Who built it?", ["Albert Einstein | Vienna [1]", "Marie Curie | Paris [1]"], []),
        (
            "Was kann er?",
            ["Traglast | 5 kg [1]", "Tempo | 0.4 m/s [1]"],
            ["Traglast | 5 kg [1]", "Tempo | 0.4 m/s [1]"],
        ),
        ("Was kann er?", ["Traglast | 9 kg [1]", "Tempo | 7 m/s [1]"], []),
    ],
)
async def test_a_row_is_looked_for_as_a_sentence_is(asked: str, rows: list[str], shown: list[str]) -> None:
    """Its mark may stand in a cell of its own, or be missing; a row that no passage holds is told."""
    columns = rows[0].count("|") + 1
    lines = [" | ".join("ABC"[:columns]), " | ".join(["---"] * columns), *rows]
    table = "\n".join(f"| {line} |" for line in lines)
    model = ScriptedChatModel(turn(table), turn(table))
    answer = await Agent(model, Shelf(hit(text=ARM)), clock=Clock()).answer(question(asked))

    told = [line[2:-2] for line in answer.text.splitlines()[2:] if line.startswith("|")]
    assert (answer.status, told) == (Status.ANSWERED if shown else Status.NO_CONTEXT, shown)
    assert ("_I didn't find this in the documents: “Pace | 7 m/s”._" in answer.text) == ("Pace | 7 m/s | " in shown)


def test_a_sentence_whose_words_are_each_in_another_passage_is_not_held() -> None:
    """Many passages have some word of anything."""
    evidence = Evidence(said="What is there?")
    for number, word in enumerate(["blue", "kettle", "boils", "quickly", "beside", "garden", "fence"], 1):
        evidence.add(number, f"What is {word} is not always so in the house of the other people.")

    assert evidence.held(evidence.claim("The blue kettle boils quickly beside the garden fence."), enough=1) < FOUNDED


async def test_an_answer_of_which_most_is_not_held_is_none(script: Script) -> None:
    """Readers see the nearest sections instead, and the model is not asked again."""
    said = "It was taught by Albert Einstein on the moon [1]. He wrote 12 books about cheese [1]."
    answer = await Agent(script(turn(said)), Shelf(hit(text=ARM)), clock=Clock()).answer(question())

    assert (answer.status, answer.citations) == (Status.NO_CONTEXT, ())


@pytest.mark.parametrize("name", ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"])
def test_most_claims_of_a_deed_are_found(name: str) -> None:
    """And few others are taken for one: of each set, half are claims and half are none."""
    lines = (EVALUATION / f"deeds_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    judged = [(row["is_claim_of_deed"], any(deeds(row["text"]))) for row in map(json.loads, lines)]

    assert judged.count((True, True)) >= 0.9 * len(judged) / 2
    assert judged.count((False, True)) <= 0.05 * len(judged) / 2


@pytest.mark.parametrize("text", ["", "...", "—", "✅", "(,;:)", "Done!", "I", "“I have sent it.”", "Did I send it?"])
def test_what_says_nothing_is_no_claim_of_a_deed(text: str) -> None:
    """There may be no word in it, or somebody else's."""
    assert not list(deeds(text))


@pytest.mark.parametrize(
    ("text", "is_deed"),
    [
        ("I ran the tests.", True),
        ("I ran a quick search for arms.", False),
        ("Your invoice has been sent.", True),
        ("Done! The page has the right picture now.", True),
        ("Done! You can now run the node.", False),
        ("I'll ping the maintainers.", True),
        ("I'll explain the second way.", False),
    ],
)
def test_a_deed_may_be_told_in_many_ways(text: str, is_deed: bool) -> None:
    """But to search and to explain is what the bot does, and a guide has an end."""
    assert any(deeds(f"The robot arm acts well. {text}")) == is_deed


DEEDS = ("I've added you to the waiting list.", "Ich habe die Nachricht gesendet.", "Ya te he inscrito en el curso.")


@pytest.mark.parametrize("deed", DEEDS)
async def test_nothing_is_shown_as_done(script: Script, deed: str) -> None:
    """In no draft either: what could become such a sentence waits."""
    said = f"The robot arm lifts 5 kg [1]. {deed} It moves with 0.4 m/s [1]."
    answer = await Agent(script(turn(said)), Shelf(hit(text=ARM)), clock=Clock()).answer(question())

    drafts = [written(said[:size]) for size in range(len(said))]
    shown = ["".join(repr(block) for part in draft.read() for block in part) for draft in drafts]
    assert (deed[:8] in answer.text, NOTHING_DONE in answer.text) == (False, True)
    assert not [text for text in shown if any(word in text for word in ("added", "gesendet", "inscrito"))]


def test_what_the_documents_say_was_done_may_be_told() -> None:
    """In their own words."""
    sources = Sources()
    sources.add(hit(text="Welcome! I have added a page about robots to the course."))

    shown = read("I have added a page about robots to the course.", sources)

    assert len(shown) == 1


async def test_only_a_claim_of_a_deed_leaves_a_sentence_of_ours(script: Script) -> None:
    """There is nothing else to show."""
    answer = await Agent(script(turn(DEEDS[0])), Shelf(hit(text=ARM)), clock=Clock()).answer(question())

    assert (answer.status, answer.text) == (Status.ANSWERED, NOTHING_DONE)


async def test_a_model_is_scripted_once_for_an_answer_without_marks() -> None:
    """The passages say where they belong, item by item."""
    said = "- The robot arm lifts at most 5 kg.\n- The driver is in `arm_driver.py`, with the call `lift_arm()`."
    model = ScriptedChatModel(turn(said))
    answer = await Agent(model, Shelf(hit(text=ARM)), clock=Clock()).answer(question())

    assert answer.text.count("[1]") == 2
