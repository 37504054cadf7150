"""Recall: passages of older turns that are relevant to the current message."""
