"""Settings: their schema, and how files, environment and flags are merged into one value."""
