"""Registry: one slash command per file, which declares `COMMAND`."""
