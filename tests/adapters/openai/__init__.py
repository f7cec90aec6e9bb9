"""What the chat model behind an OpenAI-compatible endpoint does, and what it does when the endpoint misbehaves."""
