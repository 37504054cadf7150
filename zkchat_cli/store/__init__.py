"""Conversations on disk: nothing that was said is lost. `port.py` says what a store offers, and
`sqlite/` is the one that keeps everything in one SQLite file.
"""
