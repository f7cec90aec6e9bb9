"""What the bot says of itself, in words of ours: what it can be asked, what it keeps, and what only a model can do."""

from __future__ import annotations

from core.answering.citations import Sources
from core.answering.markup import read
from core.answering.smalltalk import Matter, matter_of, wants_writing
from core.answering.tools import SearchTool
from core.answering.verdict import Verdict
from core.errors import RetrievalUnavailable
from core.messages import NEEDS_CHAT_MODEL, NO_DOCUMENTS, Practices, contents, storage
from core.model import Question, Status


async def about_itself(question: Question, search: SearchTool, practices: Practices) -> Verdict | None:
    """Return the answer to a question that no document and no model needs to answer; None for any other.

    What can be asked is what may be searched; where nobody can tell what that is, the question goes the usual way.
    """
    if question.selection is not None:
        is_beyond = search.only_quotes and wants_writing(question.text)
        return Verdict(Status.NO_CONTEXT, NEEDS_CHAT_MODEL) if is_beyond else None
    matter = None if question.attachments else matter_of(question.text)
    if matter is Matter.PRIVACY:
        return Verdict(Status.ANSWERED, storage(practices, question.message.thread.platform))
    if matter is Matter.CONTENTS:
        try:
            outline = await search.retriever.outline(search.within())
        except RetrievalUnavailable:
            return None
        if not outline.passages:
            return Verdict(Status.NO_CONTEXT, NO_DOCUMENTS)
        return Verdict(Status.ANSWERED, blocks=read(contents(outline), Sources()))  # names are not ours
    return None
