"""What the model sees: budgets, prompt assembly, strategies, recall, compaction policy. Pure
functions over values.
"""
