"""Agents: named profiles that say how a conversation is led, by which model, with which tools and how much of a window.

A user's are TOML files in `agents/` beside the settings file; those in the drawer `builtin` are always there, and a file of the same name
takes their place. A vault cannot bring one: an agent may choose a server, and whoever shares a vault must not decide where notes are sent.

    profile      what an agent may say, and how it is checked
    loading      from files to agents
    writing      from commands to files, comments kept
    addressing   `@name` at the start of a message
"""
