"""The offline provider: it searches the notes and quotes them; it is no language model."""
