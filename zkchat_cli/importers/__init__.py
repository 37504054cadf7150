"""Chat logs of other programs, and our own exports, read into a conversation."""
