"""Formulas of Word files, which are lost where only text is read: each becomes TeX between dollar signs."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from xml.etree import ElementTree as ET  # what it is given has no definitions of entities

DOCUMENT = "word/document.xml"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
FORMULA = re.compile(r"<m:oMath(?:\s[^<>]*)?>(.*?)</m:oMath>", re.DOTALL)
AROUND = re.compile(r"</?m:oMathPara(?:\s[^<>]*)?>|<m:oMathParaPr>.*?</m:oMathParaPr>", re.DOTALL)
WORDS = re.compile(r"<m:t(?:\s[^<>]*)?>([^<]*)</m:t>")
TAG, PREFIX = re.compile(r"</?([A-Za-z_][\w.]*):"), re.compile(r"\s([A-Za-z_][\w.]*):[\w.]+=")
LONGEST = 50_000  # characters of one formula
PATTERNS: Mapping[str, str] = {
    "f": r"\frac{<num>}{<den>}",
    "sSup": "<e>^{<sup>}",
    "sSub": "<e>_{<sub>}",
    "sSubSup": "<e>_{<sub>}^{<sup>}",
    "d": "(<e>)",
    "func": r"<fName> <e>",
}
"""The form of an element, with the names of its parts."""


def with_formulas(content: bytes) -> bytes:
    """Return a Word file in which each formula is words; the same one if it has none."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        document = archive.read(DOCUMENT).decode(errors="replace")
        if "<m:oMath" not in document:
            return content
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
            for name in archive.namelist():
                body = archive.read(name) if name != DOCUMENT else FORMULA.sub(_run, AROUND.sub("", document)).encode()
                written.writestr(name, body)
    return out.getvalue()


def _run(match: re.Match[str]) -> str:
    text = " ".join(_tex_of(match[1]).split())
    return f'<w:r><w:t xml:space="preserve">{html.escape(f"${text}$")}</w:t></w:r>' if text else ""


def _tex_of(xml: str) -> str:
    """Return the TeX of a formula; of one that is not understood its letters."""
    if len(xml) <= LONGEST:
        prefixes = {*TAG.findall(xml), *PREFIX.findall(xml), "m"} - {"xml"}
        spaces = " ".join(f'xmlns:{prefix}="{MATH if prefix == "m" else f"urn:{prefix}"}"' for prefix in prefixes)
        with suppress(ET.ParseError, RecursionError):
            return _tex(ET.fromstring(f"<formula {spaces}>{xml}</formula>"))  # noqa: S314 - as said above
    return html.unescape(" ".join(WORDS.findall(xml)))


def _tex(element: ET.Element) -> str:
    name = element.tag.removeprefix(f"{{{MATH}}}")
    if name == "t" or name.endswith("Pr"):
        return (element.text or "") if name == "t" else ""
    if name in PATTERNS:
        return re.sub(r"<(\w+)>", lambda part: _part(element, part[1]), PATTERNS[name])
    match name:
        case "rad":
            degree = _part(element, "deg")
            return rf"\sqrt[{degree}]{{{_part(element, 'e')}}}" if degree else rf"\sqrt{{{_part(element, 'e')}}}"
        case "nary":
            sign = element.find(f"{{{MATH}}}naryPr/{{{MATH}}}chr")
            shown = sign.get(f"{{{MATH}}}val", "∫") if sign is not None else "∫"
            limits = "".join(f"{mark}{{{_part(element, part)}}}" for mark, part in (("_", "sub"), ("^", "sup")))
            return f"{shown}{limits} {_part(element, 'e')}"
        case "m":
            rows = [" & ".join(_tex(cell) for cell in row) for row in element.findall(f"{{{MATH}}}mr")]
            return r"\begin{matrix} " + r" \\ ".join(rows) + r" \end{matrix}"
        case _:
            return "".join(map(_tex, element))


def _part(element: ET.Element, name: str) -> str:
    return ", ".join(_tex(part) for part in element.findall(f"{{{MATH}}}{name}"))
