"""Decides whether what somebody says among people is a question for the bot, by its words alone.

Better one question unanswered, which a mention asks again, than one word where people talk to each other. Nothing here
waits, looks anything up or keeps anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

from core.community import question_words as speech
from core.community.question_words import ACCENTED, ACKNOWLEDGED, SPACED, THANKS, Wording, compiled, unaccented

LONGEST = 2_000  # characters that are looked at; a question that needs more does not end there
MOST_SENTENCES = 100
MOST_OF_SENTENCE = 500  # characters; what is asked shows before
MOST_WORDS_OF_THANKS = 12
QUESTION_MARKS = "?？؟\u037e՞⸮፧꘏⁇⁈⁉‽﹖︖꛷❓❔\U00011143"
"""Those of all scripts; the Greek one looks like a semicolon, and is written as one."""
_GREEK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")
_UNSAID = re.compile(  # code, quotes, addresses and the names of emoji are nobody's words
    r"```.*?(?:```|\Z)|`[^`\n]*`|<?https?://\S+|(?<!\w)[:;x]-?[dp]\b|:[\w\u0300-\u036f\u0900-\u0eff+'-]+:(?::skin-tone-\d:)?",
    re.DOTALL | re.IGNORECASE,
)
_QUOTED = re.compile(r"^>[^\n]*$", re.MULTILINE)
_SENTENCE = re.compile(
    rf"[^.!\n。！…{QUESTION_MARKS}]*(?:\.(?=\S)[^.!\n。！…{QUESTION_MARKS}]*)*[.!\n。！…{QUESTION_MARKS}]*"
)
_PLAIN = str.maketrans("’¿¡", "'  ")
_WORD = re.compile(r"[^\W_]+(?:['’\-.][^\W_]+)*")
_WORD_OF_ANY_SCRIPT = re.compile(r"[^\W_]")
_PAUSE = re.compile(r"[,:;] | [–—-] ")
_HELLO = r"^(?i:hey|hi|hello|yo|hallo|hola|salut|ciao|oi|hoi|cześć|привет)\s+"
_NAMED = re.compile(rf"(?:{_HELLO}|^)@?(?P<name>[^\W\d_][\w'’.-]+)\s*[,:，、]\s*\S")
_GREETED = re.compile(rf"{_HELLO}(?P<name>[^\W\d_][\w'’-]+)")
_NAMED_LAST = re.compile(r"^[^,]*,\s*(?P<name>[^\W\d_](?:['’-]*+\w)++)\W*$")
_SPOKEN_TO = re.compile(r"(?<!\w)(?<!\b[Tt]he )@[^\W\d_][\w.-]*+(?!/)")  # no package, and nobody spoken of
_ORDINARY = re.compile(  # a word in front that somebody may be called by, and that is none here
    r"(?i)(?:can|will|may)\s+(?:i|it|we|the|an?|this|that|there|they)\b|(?:what|how|why|who|when|where|which)\b"
)
_SHORT = re.compile(  # laughter and the like, which says nothing; no letter of it can be read in two ways
    r"[jx]?[aeo]*+h(?:[aeo]*+(?:[jx][aeo]*+)?h)*+[aeo]*|(?:ja)+|k+|l+o+l+|\d*1"
)
_SHORTEST_APART = 4  # letters of a question where words are not apart
_SHORTEST, _SHORTEST_NAME, _MANY = 2, 3, 3  # words of a question, letters of a name, words that say what is asked


def is_acknowledgement(text: str) -> bool:
    """Return whether *text* has no words, or takes note of something and thanks for it, and asks nothing.

    It never needs an answer, whoever says it.
    """
    said = _said(text)
    if _is_marked(said) or not _WORD_OF_ANY_SCRIPT.search(said):
        return not _is_marked(said)
    words = _words(said)
    is_noted = all(word in ACKNOWLEDGED or _SHORT.fullmatch(word) for word in words)
    if is_noted or speech.ACKNOWLEDGED_APART.fullmatch(re.sub(r"[\W_]+", "", said)):
        return True
    thanks = not THANKS.isdisjoint(words) or speech.THANKS_APART.search(said)
    goes_on = speech.GOES_ON.search(said.lower()) or any(adds or _asks(one) for one, _, adds in _sentences(text))
    return bool(thanks) and len(words) <= MOST_WORDS_OF_THANKS and not goes_on


def reads_as_question(
    text: str, *, names: Collection[str] = (), follows_answer: bool = False, is_asker: bool = True
) -> bool:
    """Return whether *text* is a question for the bot where other people have spoken as well.

    *names* are those of the people who have. One that *follows the answer*, as nobody else has spoken since, may speak
    of "it", and be no whole question if the *asker* goes on so: somebody else may ask them whether it helped.
    """
    if is_acknowledgement(text) or _is_for_somebody(_said(text), names):
        return False
    sentences = list(_sentences(text))
    if len(sentences) > 1 and any(_is_personal(one) for one, is_marked, _ in sentences if is_marked):
        return False
    return any(_is_question(*each, follows_answer=follows_answer, is_asker=is_asker) for each in sentences)


def may_be_question(text: str, *, names: Collection[str] = ()) -> bool:
    """Return whether *text* asks something of nobody by name, so that a model should judge whether the bot is meant."""
    if is_acknowledgement(text) or _is_for_somebody(_said(text), names):
        return False
    return any(
        is_marked or adds or _asks(one) or any(_has(each.within, one) for each in _wordings(one) or SPACED)
        for one, is_marked, adds in _sentences(text)
    )


def _said(text: str) -> str:
    """Return the words of a message, without what is quoted, code, addresses and the names of emoji."""
    text = unicodedata.normalize("NFKC", _UNSAID.sub(" ", _QUOTED.sub(" ", text[:LONGEST])).replace("\u037e", "?"))
    text = text[:LONGEST]  # one character can have become eighteen
    text = text.replace(";", "?") if _GREEK.search(text) else text
    return re.sub(r"[^\S\n]+", " ", text.translate(_PLAIN)).strip()


def _is_marked(text: str) -> bool:
    return not set(QUESTION_MARKS).isdisjoint(text)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _sentences(text: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield each sentence in small letters, without how it is opened and what asks whether anybody knows.

    With it comes whether it is put as a question, and whether it goes on from what was asked before.
    """
    for found in _SENTENCE.findall(_said(text))[:MOST_SENTENCES]:
        sentence = found.strip(f" \n.!。！…,;:–—-{QUESTION_MARKS}\"'()").lower()[:MOST_OF_SENTENCE]
        if _WORD_OF_ANY_SCRIPT.search(sentence) and not speech.REACTION.fullmatch(sentence):
            sentence = speech.MISSPELT.sub(lambda word: speech.MEANT.get("".join(sorted(word[0])), word[0]), sentence)
            opened = speech.OPENERS.sub("", f"{sentence} ").strip() or sentence
            asked = speech.TO_ALL.sub(lambda all_: "does " if all_["whether"] else "", opened)
            yield asked, _is_marked(found) or asked != opened, _adds(sentence)


def _is_for_somebody(said: str, names: Collection[str]) -> bool:
    """Return whether a message names whom it is for: somebody known, or whoever is named in front of it or last."""
    known = {part.lower() for name in names for part in _WORD.findall(name) if len(part) >= _SHORTEST_NAME}
    words = _WORD.findall(said)
    words = (words[1:] if _ORDINARY.match(said) else []) or words
    written = [word for word in words if word.lower() in known]
    if _SPOKEN_TO.search(said) or any(not word[0].islower() for word in written) or words[:1] == written[:1]:
        return True
    found = (pattern.match(said) for pattern in (_NAMED, _GREETED, _NAMED_LAST))
    return any(each and _may_be_a_name(each["name"]) for each in found)


def _may_be_a_name(word: str) -> bool:
    """Return whether a word is written like a name, and none that messages begin with anyway."""
    return word[0].isupper() and word[1:].islower() and word.lower() not in speech.NOT_NAMES


def _wordings(sentence: str) -> tuple[Wording, ...]:
    """Return the languages that a sentence may be in, by its letters or its common words; none if nobody can say."""
    for letters, wording in speech.SCRIPTS:
        if letters.search(sentence):
            return (wording,)
    words = _words(sentence)
    counts = {wording: sum(word in wording.common for word in words) for wording in SPACED}
    most = max(counts.values())
    asking = (each for each in SPACED if any(compiled(one).search(sentence) for one in (each.asks, each.requests)))
    return tuple(each for each, count in counts.items() if count == most and most) or tuple(asking)


def _asks(sentence: str, *, is_strict: bool = False) -> bool:
    """Return whether a sentence is put as a question, also in a later clause, or wishes for what a bot can do.

    If that *is strict*, it has to ask what documents tell.
    """
    bare = unaccented(sentence)
    clauses = [bare, *(bare[found.end() :] for found in _PAUSE.finditer(bare))]
    return any(
        compiled(pattern, ACCENTED).search(clause)
        for each in _wordings(sentence)
        for pattern in (each.seeks, each.requests, *(() if is_strict else [each.asks]))
        for clause in clauses
    )


def _adds(sentence: str) -> bool:
    """Return whether a sentence goes on from what was asked, perhaps after thanks, as in "ok, and on Windows"."""
    found = (compiled(each.adds, ACCENTED).search(unaccented(sentence)) for each in _wordings(sentence))
    is_added = any(each and ACKNOWLEDGED.issuperset(_words(sentence[: each.start()])) for each in found)
    return is_added and not _is_chatty(sentence)


def _is_chatty(sentence: str) -> bool:
    return any(_has(each.chatty, sentence) for each in _wordings(sentence))


def _has(pattern: str, sentence: str) -> bool:
    """Return whether a pattern is in a sentence, whose author may have left out all accents."""
    return bool(compiled(pattern, speech.WITHIN if sentence.isascii() else None).search(sentence))


def _is_personal(sentence: str) -> bool:
    """Return whether a sentence speaks to a person, of what they do, have or plan, or of whoever else is there."""
    return any(
        _has(each.personal, compiled(each.general).sub(" ", compiled(each.requests).sub(" ", sentence, count=1)))
        for each in _wordings(sentence) or (speech.ENGLISH,)
    )


def _is_question(sentence: str, is_marked: bool, adds: bool, *, follows_answer: bool, is_asker: bool) -> bool:
    """Return whether a sentence that names nobody asks for something that documents can answer."""
    named = speech.THE_BOT.sub("footnote", sentence)  # which is a subject too
    asks = _asks(named, is_strict=not _has_subject(named, least=_MANY if is_marked else _MANY + 1))
    if _is_personal(named if asks else sentence):
        return False
    if follows_answer:
        return (is_asker and (is_marked or adds)) or ((adds or _asks(sentence)) and _has_subject(sentence))
    return asks and _has_subject(named) and not _is_chatty(named)


def _has_subject(sentence: str, *, least: int = 1) -> bool:
    """Return whether *at least* so many words say what a sentence is about: what goes on from others' has none."""
    wordings = _wordings(sentence)
    if not any(wording.common for wording in wordings):
        return least == 1 and len(_WORD_OF_ANY_SCRIPT.findall(sentence)) >= _SHORTEST_APART
    words = _words(sentence)
    telling = [word for word in words if not any(word in wording.common for wording in wordings)]
    return sum(not word.isdecimal() for word in telling) >= least and len(words) >= _SHORTEST
