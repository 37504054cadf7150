"""The notes: index, search, links, and the answers that used them."""

from zkchat_cli.cli.command import command_group
from zkchat_cli.cli.commands.vault import index, links, search

COMMAND = command_group("The notes: index, search, links.", index.COMMANDS, search.COMMANDS, links.COMMANDS)
