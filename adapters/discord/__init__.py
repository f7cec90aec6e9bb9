"""Discord: gateway events in, answers out."""
