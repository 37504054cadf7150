"""Markdown as text: blocks, and what a reader sees of them. It knows nothing of notes or conversations."""
