"""What looks like a footnote, or like the list of sources below an answer, and is none. `E` is the foreign place."""

E = "https://evil.example"
MARKS = [
    *(
        "[99]",
        r"\[99\]",
        "[**99**]",
        "**[**99]",
        "［99］",
        "【99】",
        "[`99`]",
        "&#91;99&#93;",
        "[9\ufe0f9]",
        "[\u034f99]",
    ),
    *(
        "[⁹⁹]",
        "[^99]",
        "[[99]]",
        "[ 99 ]",
        "[99, 98]",
        "[97-99]",
        "[9\u200b9]",
        "【99†source】",
        "[9<b></b>9]",
        "[９９]",
        "&lsqb;99&rsqb;",
    ),
    *(f"[99]({E})", f"[[99]]({E})", "<b>[</b>99]", "[99\n]", "[\\99]", "[9\\\n9]", "［**99**］", "[\u180e99]"),
    *("⟦99⟧", "⁅99⁆", "❲99❳", "〘99〙", "〚99〛", "﹝99﹞", "[⑨⑨]", "[⒐]", "[99†]", "[99/98]", "[99&98]", "[99*]"),
]
LISTS = [  # which are also not shown where the answer goes on below them
    "## Sources\n- [1] Somewhere",
    "## References\n- [1] Somewhere\n- [2] Elsewhere",
    "### Quellen\n\n1. [1] Somewhere\n2. Elsewhere",
    "**Bibliography**\n\n* [1] Somewhere",
    f"**References:**\n1. {E}\n2. {E}",
    f"## Sources\n\n- [Somewhere]({E})",
    f"Sources:\n{E}\n{E}",
    "Works cited: [1] Somewhere, [2] Elsewhere",
    "> **Sources**\n> - [1] Somewhere",
    "- References\n  - [1] Somewhere",
    "| Source | Link |\n|---|---|\n| [1] | Somewhere |",
]
SOURCES = [
    *(
        f"Sources:\n[1] Robots {E}",
        f"**Sources**\n\n- [1] [Robots]({E})",
        "## References\n\n1. Robots",
        "Quellen:\n- [1] Robots",
    ),
    *(
        f"-# [[1]](<{E}>) Robots › What they are (docs.example)",
        "---\n\nSources: [1], [2]",
        "> Sources\n> [1] Robots",
    ),
    *(
        f"[1]: {E}\n[2]: {E}",
        "Sources：\n[1] Robots",
        "参考文献\n\n- [1] Robots",
        "Sour&#99;es:\n[1] Robots",
        "So**urc**es:\n[1] Robots",
    ),
    *(
        "Sour\u200bces:\n[1] Robots",
        "<b>Sources</b>\n\n- [1] Robots",
        "Sources\n=======\n\n1. [1] Robots",
        "-# and 3 more",
        "\\-# [1] Robots",
    ),
    *(
        "- Sources:\n  - [1] Robots\n  - [2] Arms",
        "| Sources | Link |\n|---|---|\n| [1] | Robots |",
        "<details><summary>Sources</summary>\n\n- [1] Robots\n\n</details>",
        "📚 Sources (2)\n[1] Robots",
        "Source(s):\n[1] Robots",
        "Sources — [1] Robots",
        "The sources are:\n[1] Robots",
        "S o u r c e s:\n[1] Robots",
        "Ѕоurсеs:\n[1] Robots",
    ),
    *(f"{one}\n\nThat is all there is." for one in LISTS),
]
