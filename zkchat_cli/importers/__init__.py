"""Conversations from files: our own JSON exports, and the chat logs of other programs."""
