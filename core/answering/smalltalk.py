"""What people say to a bot that is no question to the documents: small talk, and questions about the bot itself."""

from __future__ import annotations

import re
from enum import Enum

from core.messages import ABOUT_ME, FAREWELL, GREETING, PRAISED, THANKED, WELL

# Each line below is one alternative of the pattern; breaking it would hide that.
# ruff: noqa: E501
_GREETING = r"(?:hi+|hey+|hello+|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|day|night)|hallo|hola|salut|bonjour|ciao|namaste|salam|moin|guten (?:morgen|tag|abend)|buenos d[ií]as)"
_THANKS = r"(?:(?:many |much )?thanks?(?: you| u)?(?: (?:so|very) much| a lot| again| for (?:that|this|helping(?: me)?|(?:the|your|that|this) (?:(?:quick|great|good|clear|detailed) )?(?:help|answer|reply|response|explanation|clarification|info|information|tip|hint|link))){0,3}|thx|ty|tysm|cheers|appreciated|much appreciated|(?:vielen )?dank(?:e|e dir|e sch[oö]n)?|merci(?: beaucoup)?|(?:muchas )?gracias|grazie(?: mille)?|obrigad[oa])"
_FAREWELL = r"(?:bye+|goodbye|see (?:you|ya)(?: later| soon| tomorrow)?|cya|later|take care|have a (?:nice|good|great) (?:day|evening|weekend|one)|tsch[uü]ss|ad[ií]os|au revoir)"
_PRAISE = r"(?:(?:that(?:'s| is| was)|this is|it(?:'s| is)|you(?:'re| are)) (?:very |so |really )?(?:great|good|nice|helpful|perfect|awesome|cool|amazing|clear|the best)|(?:great|good|nice|perfect|awesome|cool|amazing|wonderful|excellent|lol|haha+|wow|ok(?:ay)?|got it|i see|understood|makes sense|no problem|you'?re welcome|never ?mind|sorry)(?: (?:job|work|answer|explanation|reply|one))?|(?:that|this|it|you) (?:really |totally |just )?(?:help(?:s|ed)|work(?:s|ed)|solve[sd] (?:it|my problem)|fix(?:es|ed) it|did it|answer(?:s|ed) my question)(?: me)?(?: a lot| very much)?)"
_WELLBEING = r"(?:how are (?:you|u)(?: (?:doing|today))*|how(?:'s| is) it going|what'?s up|sup|how do you do|are you (?:there|ok|okay|alive|awake|online|working))"
_ABOUT_BOT = r"(?:(?:who|what) are (?:you|u)|what(?:'s| is) your name|what can (?:you|u) do(?: for me)?|what are you able to do|what(?:'s| is) this bot(?: for)?|what do you do|how (?:do|can) (?:i|we) use (?:you|this bot)|how do(?:es)? (?:you|footnote|(?:this|the) bot) work|are you (?:a |an )?(?:bot|robot|human|ai|real|person|chatgpt|gpt)|who (?:made|built|created) you|can you help(?: me)?|introduce yourself|tell me about yourself|help(?: me)?)"
_OPENING = r"how does (?:this|it)(?: all| thing)? work"
_FILLER = r"(?:there|all|everyone|everybody|team|folks|friend|bot|footnote|again|please|and|so|well|oh|ah|hmm+|to you|mate|buddy)"
_STORES = r"(?:store|save|keep|remember|log|record|retain|collect)"
_MINE = r"(?:my|our|the|any|people'?s) (?:\w+ )?(?:questions?|messages?|data|chats?|conversations?|answers?|inputs?|prompts?)"
_OURS = r"(?:(?:my|our) (?:questions?|messages?|data|chats?|conversations?|chat history|history)|what (?:i|we) (?:say|ask|write|type))"
_PRIVACY = rf"(?:(?:do|does|will|can|are) (?:you|u|footnote|the bot|this bot) {_STORES}(?:ing)? (?:{_MINE}|what (?:i|we) (?:say|ask|write|type)|everything (?:i|we) (?:say|ask|write))|(?:are|is|will) {_MINE} (?:be )?(?:stored|saved|kept|logged|recorded|remembered|private|confidential|safe)(?: here| anywhere| by you| with you)?|what (?:data|do|does|information) (?:you|do you|the bot) {_STORES}(?: about me| about us| of me)?|(?:who|can (?:anyone|others|somebody)) (?:else )?(?:can )?(?:see|read|sees|reads) {_MINE}|speicherst du (?:meine|unsere) (?:fragen|nachrichten|daten)|guardas m[i]s (?:preguntas|mensajes|datos)|(?:est ce que )?tu (?:gardes|enregistres|stockes) mes (?:questions|messages|données)|is (?:this|my|our) (?:chat|conversation|question|data) (?:being )?(?:stored|saved|kept|logged|recorded|private|confidential)|how long do you {_STORES} {_MINE}|(?:who|can|could|do|does|will)(?: (?!you\b)\w+){{0,3}} (?:see|read) {_OURS}(?: you)?|what (?:do you do|happens) (?:with|to) {_OURS}|(?:(?:how|where) (?:can|do) i |(?:can|could|will) you |i want (?:you )?to )?(?:delete|remove|erase|forget|clear) (?:all (?:of )?)?(?:{_OURS}|me|everything (?:about me|i (?:said|asked|wrote)|you know about me)))"
_PAGES = r"(?:documents|docs|documentation|pages|sources|books?|textbook|handbook|wiki)"
_KINDS = rf"(?:topics|subjects|chapters|modules|lessons|{_PAGES})"
_CONTENTS = rf"(?:what (?:can|could|should|may) (?:i|we) ask(?: (?:you|u|here))?(?: about| for)?|what (?:questions|kinds? of questions|sort of questions) can (?:i|we) ask(?: you)?|(?:what|which) (?:kinds? of )?{_KINDS} (?:do you (?:know|have|cover|use|search)|exist|are (?:there|covered|included|you using)|can (?:i|we) ask (?:you )?about|do(?:es)? (?:this|it|they|(?:this|the|these|your) (?:bot|{_PAGES})) (?:cover|have|contain|include))(?: about)?|what do you know(?: about)?|(?:show me |is there )?(?:the |a )?table of contents|was kann ich (?:dich |dir |hier )?fragen|welche (?:kapitel|themen|dokumente|seiten) gibt es|qu[eé] puedo preguntar(?:\w\w)?|quels? (?:chapitres|sujets|documents) (?:y a t il|existent)|(?:list|show me|tell me|what are) (?:all )?(?:of )?(?:the |your )?{_KINDS}|(?:tell me )?what(?:'?s| is| are)? (?:in )?(?:this|the|these|your) {_PAGES}(?: about)?|what do(?:es)? (?:this|the|these|your) {_PAGES} (?:cover|contain))"
_REWRITE = r"(?:(?:(?:can|could|would) you )?(?:summari[sz]e|sum up|explain|simplify|translate|rephrase|reword|shorten|rewrite)(?: me)?(?: this| that| it| the (?:text|message|selection|paragraph|passage|section|above|(?:last |previous )?answer|(?:thread|conversation|discussion)))?(?: text| message| selection| paragraph| passage| section)?(?: (?:up|(?:for|to) me|briefly|shortly|simply|in (?:one|two|three|a few|simple|plain|short|\w+) ?(?:sentences?|words?|lines?|terms|english|points)?|to \w+)){0,3}|sum (?:this|that|it) up(?: for me)?|fass (?:das|es|dies|mir das)(?: bitte)? zusammen|resume esto|r[eé]sume (?:moi )?(?:ça|ceci|cela)|tl ?;? ?dr|(?:give|write|make) (?:me )?(?:a |the )?(?:short |brief |quick )?(?:summary|translation|tldr)(?: of (?:this|that|it|the (?:text|message|selection)))?|what does (?:this|that|it) (?:say|mean) in (?:short|simple (?:words|terms)))"
_COMPLAINT = r"(?:no )?(?:(?:that|this|it|you|(?:your|the|this|that) answer)(?:'s| is| was|'re| are)(?: (?:totally|completely|just|so|very|really|still))? (?:wrong|incorrect|false|unhelpful|useless|nonsense|(?:the|a) (?:wrong|bad) answer)|(?:that|this|it|(?:your|the|this|that) answer)(?:'s not| isn'?t| wasn'?t| is not| was not)(?: really)? (?:right|correct|true|helpful|useful|an answer|the (?:right )?answer|what i (?:asked|meant|wanted|was looking for)(?: for| about)?)|(?:that|this|it|you) (?:did|does|do)(?: not|n'?t)(?: really)? (?:help|answer (?:my|the) question)(?: me| at all)?|i did(?: not|n'?t) (?:ask|mean)(?: for)? (?:that|this)|(?:wrong|bad|useless) answer)"
_PIECE = rf"(?:{_GREETING}|{_THANKS}|{_FAREWELL}|{_PRAISE}|{_WELLBEING}|{_ABOUT_BOT}|{_FILLER})"
_LONGEST = 100  # characters; small talk is short, and a bound keeps the pattern quick on hostile text
_REPLIES = tuple(
    (re.compile(rf"(?<!\w)(?:{pattern})(?!\w)"), reply)
    for pattern, reply in (
        (rf"(?:{_ABOUT_BOT}|{_OPENING})", ABOUT_ME),
        (_WELLBEING, WELL),
        (_THANKS, THANKED),
        (_FAREWELL, FAREWELL),
        (_PRAISE, PRAISED),
    )
)
_POLITE = rf"(?:(?:{_GREETING}|{_FILLER}|{_THANKS})\s+)*"
_MATTERS = tuple(
    (re.compile(rf"{_POLITE}{pattern}(?:\s+(?:{_FILLER}|{_THANKS}))*"), matter)
    for pattern, matter in ((_CONTENTS, "contents"), (_PRIVACY, "privacy"), (_COMPLAINT, "complaint"))
)
_WANTS_WRITING = re.compile(rf"{_POLITE}{_REWRITE}(?:\s+(?:{_FILLER}|{_THANKS}))*")
_SMALL_TALK = re.compile(rf"(?:{_PIECE}(?:\s+|\Z))+")
_ASKS_AT_FIRST = re.compile(rf"{_POLITE}{_OPENING}(?:\s+(?:{_FILLER}|{_THANKS}))*")
_NO_WORDS = re.compile(r"[\W_]+")
_PUNCTUATION = re.compile(r"[^\w'\s]+")


class Matter(Enum):
    """What somebody asks or says of the bot itself that no document tells."""

    CONTENTS = "contents"
    PRIVACY = "privacy"
    COMPLAINT = "complaint"


def is_small_talk(text: str, *, is_first: bool = False) -> bool:
    """Return whether *text* is nothing but greetings, thanks and questions about the bot itself.

    Strict on purpose: one other word makes it a question, which then has to be answered from the documents. How "this"
    works is about the bot where it *is_first*, and nothing else was asked that it could be about.
    """
    if _NO_WORDS.fullmatch(text):
        return not any(mark in text for mark in "?？")
    plain = _plain(text)
    if len(plain) > _LONGEST:
        return False
    return bool(_SMALL_TALK.fullmatch(plain) or (is_first and _ASKS_AT_FIRST.fullmatch(plain)))


def reply_to(text: str) -> str:
    """Return what to say to small talk where no model words it: what it asks or thanks for counts before greetings."""
    plain = _plain(text)
    return next((reply for pattern, reply in _REPLIES if pattern.search(plain[:_LONGEST])), GREETING)


def matter_of(text: str) -> Matter | None:
    """Return what *text* says of the bot: asks what it can be asked, or what it keeps, or complains; None for all else.

    As strict as small talk: with one word more it is a question to the documents.
    """
    plain = _plain(text)
    found = (matter for pattern, matter in _MATTERS if len(plain) <= _LONGEST and pattern.fullmatch(plain))
    return next(map(Matter, found), None)


def wants_writing(text: str) -> bool:
    """Return whether *text* only asks to have something said in other words, which quotes cannot do."""
    plain = _plain(text)
    return len(plain) <= _LONGEST and bool(_WANTS_WRITING.fullmatch(plain))


def _plain(text: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", text.casefold().replace("\u2019", "'")).split())
