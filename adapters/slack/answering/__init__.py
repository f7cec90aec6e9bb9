"""How answers appear in Slack."""
