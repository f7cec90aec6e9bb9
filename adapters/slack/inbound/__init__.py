"""What the bot hears, and what becomes of it."""
