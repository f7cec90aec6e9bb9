"""How answers look: Markdown that Slack can be trusted with, sources, blocks and the plain text."""
