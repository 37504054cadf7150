"""Summaries of conversations: the request to a model, and the extractive summarizer that needs
none.
"""
