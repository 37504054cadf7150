"""Index the notes, search them, and see how links join them and which answers used them."""

from zkchat_cli import cli
from zkchat_cli.cli.vault import finding, graph, holding, links

COMMAND = cli.app("The notes: index, search, links.", holding.ROOM, finding.ROOM, links.ROOM, graph.ROOM)
