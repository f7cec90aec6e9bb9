"""How the bot talks to Slack."""
