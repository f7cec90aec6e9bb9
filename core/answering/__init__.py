"""How an answer is written: from the model's text to a tree with footnotes."""
