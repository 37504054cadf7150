"""What the model sees: budgets, the prompt's assembly, its figures, and compaction. Pure code over values; the session acts on it."""
