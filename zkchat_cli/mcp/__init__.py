"""The vault as an MCP server: other programs search notes, read them and verify quotations.

`server` and its tools import the SDK (extra `zkchat[mcp]`), which takes more than a second; only `zkchat mcp` does. `clients` writes the
configuration of other programs and needs none of it.
"""
