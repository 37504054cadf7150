"""What a sentence claims, and whether another one says the same."""
