"""Frozen values: notes, messages, prompts, conversations, reports."""
