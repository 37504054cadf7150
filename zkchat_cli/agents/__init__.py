"""Agents: named profiles with a system prompt, a model, tools and settings.

Users' agents are TOML files in `agents/` next to the settings file; a file with the name of a
built-in agent replaces it. A vault cannot bring agents: an agent may choose a server, and whoever
shares a vault must not decide where notes are sent.
"""
