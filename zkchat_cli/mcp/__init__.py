"""The vault as an MCP server. It imports the SDK (extra `zkchat[mcp]`), which takes more than a
second: only `zkchat mcp` does.
"""
