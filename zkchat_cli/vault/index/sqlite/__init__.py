"""The index of a vault in an SQLite file."""
