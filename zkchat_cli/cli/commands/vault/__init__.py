"""The notes: index, search, links, and the answers that used them."""

from zkchat_cli.cli.command import command_group
from zkchat_cli.cli.commands.vault import index, links, search

HELP = """The notes: index, search, links.

`search -` and `resolve -` read one item per line from standard input, and print one JSON line each with --json."""

COMMAND = command_group(HELP, index.COMMANDS, search.COMMANDS, links.COMMANDS)
