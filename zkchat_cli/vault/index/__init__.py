"""The index of a vault: one SQLite file in the cache directory, rebuilt when needed."""
