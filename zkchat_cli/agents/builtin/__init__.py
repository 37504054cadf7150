"""Registry: the built-in agents. Each file declares `AGENT`; a user's file of the same name replaces it."""
