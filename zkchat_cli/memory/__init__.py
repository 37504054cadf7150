"""What outlasts a conversation. For now: the vault's project memory, notes that are sent with every message."""
