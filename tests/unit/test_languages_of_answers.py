"""Right answers in six languages, over passages in English and in their own: none is refused, and none is warned of."""

from __future__ import annotations

import pytest

from core.answering.agent import Agent
from core.answering.claims import Evidence
from core.documents.excerpt import read_words
from core.model import Status
from tests.builders import hit, question
from tests.fakes.chat import ScriptedChatModel, turn
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.unit.conftest import Script

FACTS = (
    "The battery lasts about eight hours in normal use and charges in twenty minutes. The robot weighs 12 kg and must"
    " not be used in the rain. You can move it by hand when it is switched off. It was built by students at a school in"
    " Lisbon. Clean the camera with a soft cloth once a week."
)
ANSWERS = {
    "German": (
        "Der Roboter wiegt 12 kg [1]. Er darf nicht in den Regen [1]. Der Akku hält im normalen Betrieb etwa acht"
        " Stunden und ist in zwanzig Minuten voll [1]. Wenn er aus ist, kann man ihn von Hand bewegen [1]. Gebaut"
        " wurde er in einer Schule in Lissabon [1]."
    ),
    "French": (
        "Le robot pèse 12 kg [1]. On ne doit pas l'utiliser sous la pluie [1]. La batterie a une autonomie de "
        "huit heures [1]. Il a été construit par des étudiants à Lisbonne [1]. Nettoyez la caméra une fois par "
        "semaine [1]."
    ),
    "Spanish": (
        "El robot pesa 12 kg [1]. No se debe usar bajo la lluvia [1]. La batería dura unas ocho horas y se carga "
        "en veinte minutos [1]. Se puede mover a mano si está apagado [1]. No, no lo uses bajo la lluvia [1]."
    ),
    "Dutch": (
        "De robot weegt 12 kg [1]. Gebruik hem niet in de regen [1]. De batterij gaat ongeveer acht uur mee en is"
        " in twintig minuten vol [1]. Als hij uit is, kun je hem met de hand bewegen [1]. Hij is gebouwd in "
        "Lissabon [1]."
    ),
    "Portuguese": (
        "O robô pesa 12 kg [1]. Não o use na chuva [1]. A bateria dura cerca de oito horas e carrega em vinte "
        "minutos [1]. Com o robô desligado, você o move com a mão [1]. Foi feito por alunos de uma escola em "
        "Lisboa [1]."
    ),
    "Italian": (
        "Il robot pesa 12 kg [1]. Non si può usare il robot sotto la pioggia [1]. È stato costruito a scuola a "
        "Lisbona; la batteria dura otto ore a uso normale [1]. Se è spento, lo si può muovere a mano [1]."
    ),
}


@pytest.mark.parametrize("passage", ["English", "its own"])
@pytest.mark.parametrize("language", ANSWERS)
async def test_a_right_answer_in_another_language_stays(language: str, passage: str, script: Script) -> None:
    """With each of its footnotes, as a whole and sentence by sentence."""
    said = ANSWERS[language]
    text = FACTS if passage == "English" else said.replace(" [1]", "")

    for each in (said, *(f"{one} [1]." for one in said.removesuffix(" [1].").split(" [1]. "))):
        answer = await Agent(script(turn(each)), Shelf(hit(text=text)), clock=Clock()).answer(question())
        assert (answer.status, answer.text) == (Status.ANSWERED, each)


@pytest.mark.parametrize(
    "said",
    [
        "A bateria dura 8 horas",
        "Robot in Lissabon gebaut",
        "Am Abend immer laden",
        "Muovere a mano solo a robot spento",
        "Me gusta usar robots a diario",
    ],
)
@pytest.mark.parametrize(
    ("asked", "before"), [("Wie ist das mit dem Roboter?", ""), ("What?", "Der Roboter ist nicht neu")]
)
def test_a_sentence_that_could_be_english_is_in_the_language_of_the_answer(said: str, asked: str, before: str) -> None:
    """Or of the question, if it is the first."""
    evidence = Evidence(said=asked)
    evidence.add(1, FACTS)
    if before:
        evidence.place(before, 1, (1,))

    assert evidence.place(said, 1, (1,)) == 1


UNMARKED = [
    ("Der Akku hält etwa acht Stunden und ist nach 90 Minuten voll. Der Roboter wiegt 12 kg.", "English"),
    ("La batterie se charge en 1,5 heures. On ne doit pas utiliser le robot sous la pluie.", "English"),
    ("The battery lasts about 8 hours and charges in 90 minutes.", "German"),
]
CHARGED = {
    "English": "The battery lasts about eight hours and charges in 90 minutes. The robot weighs 12 kg. Keep it dry.",
    "German": "Die Batterie hält etwa acht Stunden und lädt in 90 Minuten. Der Roboter wiegt 12 kg und bleibt trocken.",
}
OTHERS = {
    "English": "The school in Lisbon has 30 rooms, and a garden that is open to students in the evening.",
    "German": "Die Schule in Lissabon hat 30 Zimmer und einen Garten, der am Abend für alle offen ist.",
}


@pytest.mark.parametrize(("said", "passages"), UNMARKED)
async def test_an_answer_without_marks_gets_them_from_its_numbers(said: str, passages: str) -> None:
    """Where one passage alone has them, and words cannot be compared; the model is not asked again."""
    model = ScriptedChatModel(turn(said))
    shelf = Shelf(
        hit(text=OTHERS[passages], url="https://docs.example/0"),
        hit(text=CHARGED[passages], url="https://docs.example/1"),
    )
    answer = await Agent(model, shelf, clock=Clock()).answer(question())

    assert (answer.status, answer.text) == (Status.ANSWERED, f"{said} [1]")
    assert [each.url for each in answer.citations] == ["https://docs.example/1"]


@pytest.mark.parametrize("said", ["Never let it touch water [1].", "It weighs 12 kilos.", "Its battery lives 8 hours."])
async def test_an_answer_from_the_passage_in_another_language_stays(said: str) -> None:
    """Though the passage beside it can be compared, and has none of its words."""
    shelf = Shelf(
        hit(text=CHARGED["German"], url="https://docs.example/0"),
        hit(text=OTHERS["English"], url="https://docs.example/1"),
    )
    answer = await Agent(ScriptedChatModel(turn(said)), shelf, clock=Clock()).answer(question())

    assert (answer.status, answer.text) == (Status.ANSWERED, said if "[1]" in said else f"{said} [1]")


@pytest.mark.parametrize(
    "said",
    [
        "Der Akku ist nach 80 Minuten voll und der Roboter wiegt 90 kg.",
        "Es gibt davon 2 Arten, die man gut verwenden kann.",
        "Der Roboter ist sehr leicht und hält den ganzen Tag.",
    ],
)
async def test_an_answer_without_marks_of_which_nothing_can_be_found_is_none(said: str) -> None:
    """Nobody can say that it comes from the documents: what a model knows from elsewhere looks the same."""
    model = ScriptedChatModel(turn(said), turn(said))
    shelf = Shelf(hit(text=CHARGED["English"] + " It has 2 wheels."))
    answer = await Agent(model, shelf, clock=Clock()).answer(question())

    assert (answer.status, answer.citations) == (Status.NO_CONTEXT, ())


@pytest.mark.parametrize(
    "text",
    [
        "It was built at the Universität Wien by Jörg Müller and Søren Kierkegaard.",
        "The team of Los Angeles plays in the city of Rio de Janeiro.",
        "It charges in 20 minutes.",
        "The limit per user is 5 as of version 3.",
        "Set it to die after one hour.",
    ],
)
def test_english_with_names_from_elsewhere_is_english(text: str) -> None:
    """So that its words are compared."""
    assert read_words(text)[1]
