"""Text of natural languages: words, languages, dates, truncation, and text made safe for a
terminal.
"""
