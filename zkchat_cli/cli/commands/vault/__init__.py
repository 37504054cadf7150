"""Index the notes, search them, and see how links join them and which answers used them."""

from zkchat_cli.cli import command
from zkchat_cli.cli.commands.vault import graph, index, links, search

COMMAND = command.app("The notes: index, search, links.", index.ROOM, search.ROOM, links.ROOM, graph.ROOM)
