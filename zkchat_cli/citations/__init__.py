"""Marks in an answer become verified citations."""
