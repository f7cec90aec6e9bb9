"""What Footnote is, in ten short tests; begin here."""
