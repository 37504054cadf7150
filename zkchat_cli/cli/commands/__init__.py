"""Registry: one command, or group of commands, per file. Each declares `COMMAND`; the first line of its docstring is its help."""
