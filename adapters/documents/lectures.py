"""What is shown and said in lectures: slides by their titles, and transcripts by the second at which it is said."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from adapters.documents.page import HEADING_MARK, NotReadable, Page, cleaned, decode

if TYPE_CHECKING:
    from webvtt import Caption

SLIDES, TRANSCRIPTS = (".pptx",), (".vtt", ".srt")
MEDIA = (".mp4", ".webm", ".m4v", ".mov", ".ogv", ".mp3", ".m4a", ".ogg", ".opus", ".wav")
NOT_SLIDES = "is not a presentation of the .pptx kind; open it in PowerPoint and save it again."
NO_CAPTIONS = "has no captions; check whether it is a transcript."
NOTE = re.compile(r"^NOTE\b(.*?)(?:\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
ADDRESS = re.compile(r"https?://[^\s<>\"']{4,500}", re.IGNORECASE)
SHORTEST, LONGEST = 45, 120  # seconds of what is said under one time, and at the end of a sentence
DEEPEST = 8  # groups in groups of shapes


def media_of(path: Path) -> Path:
    """Return the recording beside a transcript that has its name, up to its language; without one, the transcript."""
    stems = dict.fromkeys((path.stem, path.stem.rpartition(".")[0] or path.stem))
    found = (path.with_name(stem + suffix) for stem in stems for suffix in MEDIA)
    return next((each for each in found if each.is_file()), path)


def read_transcript(content: bytes) -> Page:
    """Read WebVTT or SubRip under headings that are times; a note may name the video that the footnotes lead to."""
    from webvtt import WebVTT
    from webvtt.errors import MalformedFileError

    text = decode(content)
    is_vtt = text.lstrip().startswith("WEBVTT")
    try:
        captions: Sequence[Caption] = WebVTT.from_buffer(io.StringIO(text), format="vtt" if is_vtt else "srt").captions
    except MalformedFileError as error:
        raise NotReadable(NO_CAPTIONS) from error
    if not captions:
        raise NotReadable(NO_CAPTIONS)
    url, unit = _video(text) if is_vtt else ("", "")
    parts: list[str] = []
    for start, words in _said(captions):
        hours, minutes, seconds = start // 3600, start // 60 % 60, start % 60
        shown = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
        parts.append(f"## {shown} {{#t={start}{unit}}}\n\n{_inline(words)}\n")
    return Page(text="\n".join(parts), url=url)


def _video(text: str) -> tuple[str, str]:
    """Return the address of the video that a note names, and in which unit its host counts the time."""
    for note in NOTE.finditer(text):
        for match in ADDRESS.finditer(note[1]):
            address = match[0].rstrip(".,;)")
            place = urlsplit(address)
            host = (place.hostname or "").removeprefix("www.").removeprefix("m.")
            path = place.path.strip("/")
            if host in ("youtube.com", "youtu.be"):
                named = path if host == "youtu.be" else parse_qs(place.query).get("v", [""])[0]
                if re.fullmatch(r"[\w-]{6,20}", named):
                    return f"https://www.youtube.com/watch?v={named}", "s"
            elif host == "vimeo.com" and re.fullmatch(r"\d+(?:/\w+)?", path):
                return f"https://vimeo.com/{path}", "s"
            elif path.lower().endswith(MEDIA):
                return address.partition("#")[0], ""
    return "", ""


def _said(captions: Sequence[Caption]) -> Iterator[tuple[int, str]]:
    """Yield what is said in pieces of about a minute, with the second at which each begins."""
    start, lines, voice, before = 0, list[str](), "", set[str]()
    for caption in captions:
        now = int(caption.start_in_seconds)
        passed = now - start
        if lines and (passed >= LONGEST or (passed >= SHORTEST and lines[-1].endswith((".", "?", "!", "…")))):
            yield start, " ".join(lines)
            lines = []
        if not lines:
            start = now
        shown = [" ".join(cleaned(line).split()) for line in unescape(caption.text).split("\n")]
        new = [line for line in shown if line and line not in before]  # captions that roll repeat what stood before
        before = set(shown)
        if new and caption.voice and caption.voice != voice:
            voice = caption.voice
            new[0] = f"{voice}: {new[0]}"
        lines += new
    if lines:
        yield start, " ".join(lines)


def read_slides(content: bytes) -> Page:
    """Read a presentation: each slide under its title, with its text, its tables and its speaker's notes."""
    from pptx import Presentation
    from pptx.exc import PackageNotFoundError

    from adapters.documents.html import check_packed

    check_packed(content, "ppt/presentation.xml", NOT_SLIDES)
    try:
        shown = Presentation(io.BytesIO(content))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise NotReadable(NOT_SLIDES) from error
    parts: list[str] = []
    for number, slide in enumerate(shown.slides, start=1):
        title = slide.shapes.title
        named = " ".join(title.text_frame.text.split()) if title is not None else ""
        parts.append(f"## {_inline(named) or f'Slide {number}'} {{#slide={number}}}")
        for shape in slide.shapes:
            if title is None or shape.shape_id != title.shape_id:
                parts += _shape(shape, 0)
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
            parts += [_inline(line.text) for line in notes.paragraphs if line.text.strip()]
    return Page(text=cleaned("\n\n".join(parts)) + "\n", title=(shown.core_properties.title or "").strip())


def _shape(shape: Any, depth: int) -> Iterator[str]:
    """Yield the text of a shape, and of those in it, as Markdown."""
    if depth < DEEPEST and hasattr(shape, "shapes"):
        for each in shape.shapes:
            yield from _shape(each, depth + 1)
    elif getattr(shape, "has_table", False):
        rows = [[_inline(cell.text).replace("|", r"\|") for cell in row.cells] for row in shape.table.rows]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        if lines:
            yield "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
    elif getattr(shape, "has_text_frame", False):
        lines = [line for line in shape.text_frame.paragraphs if line.text.strip()]
        yield "\n".join(f"{'  ' * line.level}- {_inline(line.text)}" for line in lines)


def _inline(text: str) -> str:
    """Return a text in one line, in which nothing begins a heading or a tag."""
    return HEADING_MARK.sub(r"\1\\\2", " ".join(text.split()))
