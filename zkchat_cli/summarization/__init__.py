"""Summaries of a conversation: the request to the model, and the extractive summarizer."""
