"""The command line: `app` is the root, `commands` the registry of its commands."""
