"""The engine: one conversation, and one turn of it."""
