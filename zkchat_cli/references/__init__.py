"""The documents of a conversation: mentions, imports, numbered chunks, injection into the prompt,
summaries.
"""
