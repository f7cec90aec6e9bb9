"""How answers look: the Markdown that Discord draws, sources and buttons."""
