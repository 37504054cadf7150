"""The terminal: what reaches the screen, and how. The core yields events; this is where they become
lines.
"""
