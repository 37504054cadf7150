"""Drawer: the agents that are always there, one a file, each declaring `AGENT`. A user's file of the same name takes its place."""
