"""The people around the bot: which messages are for it, who is answered, and what moderators and readers may do."""
