"""Wikilinks: syntax, resolution, and the graph of notes."""
