"""OpenAI's API, and servers compatible with it."""
