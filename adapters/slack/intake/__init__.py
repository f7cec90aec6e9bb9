"""How what happens on Slack comes in: over sockets, or over HTTP."""
