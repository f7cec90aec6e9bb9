"""Tells small talk from questions: only small talk may be answered without looking into the documents."""

from __future__ import annotations

import re

# Each line below is one alternative of the pattern; breaking it would hide that.
# ruff: noqa: E501
_GREETING = r"(?:hi+|hey+|hello+|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|day|night)|hallo|hola|salut|bonjour|ciao|namaste|salam|moin|guten (?:morgen|tag|abend)|buenos d[ií]as)"
_THANKS = r"(?:(?:many |much )?thanks?(?: you| u)?(?: (?:so|very) much| a lot| again| for (?:that|this|your help|the help|helping)){0,3}|thx|ty|tysm|cheers|appreciated|much appreciated|danke|merci|gracias|grazie|obrigad[oa])"
_FAREWELL = r"(?:bye+(?: bye+)?|goodbye|see (?:you|ya)(?: later| soon| tomorrow)?|cya|later|take care|have a (?:nice|good|great) (?:day|evening|weekend|one)|tsch[uü]ss|ad[ií]os|au revoir)"
_PRAISE = r"(?:(?:that(?:'s| is| was)|this is|it(?:'s| is)|you(?:'re| are)) (?:very |so |really )?(?:great|good|nice|helpful|perfect|awesome|cool|amazing|clear|the best)|(?:great|good|nice|perfect|awesome|cool|amazing|wonderful|excellent|lol|haha+|wow|ok(?:ay)?|got it|i see|understood|makes sense|no problem|you'?re welcome|never ?mind|sorry)(?: (?:job|work|bot|answer|one))?)"
_WELLBEING = r"(?:how are (?:you|u)(?: (?:doing|today))*|how(?:'s| is) it going|what'?s up|sup|how do you do|are you (?:there|ok|okay|alive|awake|online|working))"
_ABOUT_BOT = r"(?:(?:who|what) are (?:you|u)|what(?:'s| is) your name|what can (?:you|u) do(?: for me)?|what do you do|how (?:do|can) (?:i|we) use (?:you|this bot)|how do you work|are you (?:a |an )?(?:bot|robot|human|ai|real|person|chatgpt|gpt)|who (?:made|built|created) you|can you help(?: me)?|introduce yourself|tell me about yourself|help(?: me)?(?: please)?)"
_FILLER = r"(?:there|all|everyone|everybody|team|folks|friend|bot|footnote|again|please|and|so|well|oh|ah|hmm+|to you|mate|buddy)"
_PIECE = rf"(?:{_GREETING}|{_THANKS}|{_FAREWELL}|{_PRAISE}|{_WELLBEING}|{_ABOUT_BOT}|{_FILLER})"
_LONGEST = 100  # characters; small talk is short, and a bound keeps the pattern quick on hostile text
_SMALL_TALK = re.compile(rf"(?:{_PIECE}(?:\s+|\Z))+")
_NO_WORDS = re.compile(r"[\W_]+")
_PUNCTUATION = re.compile(r"[^\w'\s]+")


def is_small_talk(text: str) -> bool:
    """Return whether *text* is nothing but greetings, thanks and questions about the bot itself.

    Strict on purpose: one other word makes it a question, which then has to be answered from the documents.
    """
    if _NO_WORDS.fullmatch(text):
        return not any(mark in text for mark in "?？")
    plain = " ".join(_PUNCTUATION.sub(" ", text.casefold().replace("\u2019", "'")).split())
    return len(plain) <= _LONGEST and bool(_SMALL_TALK.fullmatch(plain))
