"""Recall: what older turns say about the question at hand."""
