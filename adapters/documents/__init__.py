"""Documents from files: every reader turns bytes into Markdown, so that everything after it knows one format."""
