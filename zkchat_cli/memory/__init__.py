"""What outlasts a conversation: memory files in the vault, facts, often-cited notes, earlier
conversations.
"""
