"""Markdown: the block scanner, blocks and sentences, and plain text. It knows no notes or
conversations.
"""
