"""What Footnote promises to the people who use it, by id; each is kept by at least one test that carries its mark."""

from __future__ import annotations

PROMISES = {
    # Answers
    "footnotes": "Every statement carries a number, and every number leads to the section it comes from.",
    "numbers-in-order": "Numbers run 1, 2, 3 in the order of the text, and the same section has one number.",
    "no-invented-marks": "A number that no search returned is not shown.",
    "no-invented-links": "An address that the documents do not hold is not shown.",
    "streaming-is-exact": "Streaming shows exactly what writing at once would show.",
    "abstains": "Where nothing is relevant, the answer says so and names the nearest sections.",
    "always-searches": "Only small talk is answered without a search.",
    "small-talk": "Greetings and thanks are answered without a search and without sources.",
    "selection-only": "A question about a selection is answered from the selection alone.",
    "ends-with-answer": "Whatever happens, the reader is left with one whole answer.",
    "failed-search-warns": "A search that fails puts a warning on the question and gives the reader a sentence.",
    "follow-ups": "A follow-up is understood with what was asked before.",
    "scope": "A question limited to sources or chapters is answered from them alone.",
    "bounded-loop": "The model is asked a bounded number of times.",
    "events": "Every step of an answer is an event.",
    "textbook": "Questions over a real textbook are answered, and declined, as expected.",
    # Documents
    "formats": "Markdown, MDX, HTML, reStructuredText, text, PDF, notebooks and Word are read as they were written.",
    "unreadable-files": "A file that cannot be read is named with the reason and does not stop the rest.",
    "stays-in-folder": "Nothing outside of the named folder is read.",
    "deep-links": "A footnote leads to the heading on the published page.",
    "incremental": "Only what has changed is read again, and what has gone is removed.",
    "resumable": "Reading that was broken off goes on where it was.",
    "empty-folder-keeps-index": "A folder that cannot be read empties no index.",
    "whole-passages": "Passages never cross a heading, fit the embedder and lose no word.",
    "release-dates": "A page is not found before its release date.",
    "drafts-hidden": "Drafts and unlisted pages are not read.",
    "whole-pages": "Nothing old of a page stays when it is replaced.",
    # Conversations
    "expiry": "A conversation is gone when its time is over, and each turn restarts the clock.",
    "nothing-lost": "Turns that are written at the same moment are all kept.",
    "written-once": "The same turn written twice is kept once.",
    "forget": "A conversation can be forgotten, whole.",
    "encrypted": "No word that people wrote reaches the disk unencrypted.",
    "key-rotation": "Keys can be changed without losing conversations.",
    "unreadable-is-none": "A stored value that cannot be read counts as none.",
    "key-is-private": "The key in the data folder can be read by its owner only.",
    "store-goes-with-owner": "The private server ends with the process that owns it, even when that is killed.",
    "store-is-private": "Nobody but its owner can reach the private server.",
    "data-survives": "What was stored is there after a restart and after a crash.",
    # Running
    "plain-errors": "An error tells what to do, and never quotes a vendor's text.",
    "model-checked": "The search model is used only if it is exactly the one that was measured.",
    "quick-help": "The command line loads nothing heavy to show its help.",
    "dependency-rule": "The core knows no vendor, and adapters do not know one another.",
    "pinned": "Everything that is installed is pinned with its checksum.",
    # Documents about Footnote
    "true-readme": "The exchange in the README is a real one.",
    "settings-documented": "Every setting is documented with its default.",
    "demo-knows": "The demo answers what newcomers ask.",
}
