"""The notes: a folder of Markdown files, its index, links and search. `vault.Vault` is the whole
interface.
"""
