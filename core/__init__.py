"""The product: answer a question from documents, with footnotes. Knows no vendor, no platform and no clock."""
