"""Registry: the tools for other programs, which call them through `zkchat mcp`, one per file.

They return documents with the keys of the commands with `--json` that answer the same question. In
a result, `more` says how to get the rest.
"""
