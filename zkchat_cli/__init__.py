"""zkchat: a chat with your own notes in the terminal, in which every answer can be checked."""

__version__ = "0.1.0"
