"""Registry: the tools that the model may call in a conversation, one per file."""
