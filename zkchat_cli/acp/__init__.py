"""The notes as an agent of an editor, over the Agent Client Protocol. See
https://agentclientprotocol.com.
"""
