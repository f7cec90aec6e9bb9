"""What `footnote evaluate` does: asks test questions, checks the answers, measures them, and draws a page of it all."""
