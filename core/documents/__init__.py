"""Documents, from reading them into the index to finding what fits a question."""
