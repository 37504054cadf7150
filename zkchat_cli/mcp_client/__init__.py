"""Tools of the MCP servers that the user has configured; the model may call them beside zkchat's
own.
"""
