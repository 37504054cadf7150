"""Look at stored conversations: what their answers rest on, drawn."""

from typing import Annotated

import typer

from zkchat_cli import cli
from zkchat_cli.errors import UsageError
from zkchat_cli.references.relations import as_document, as_dot, as_mermaid, relations
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.wiring import Choices

COMMAND = cli.app("Stored conversations.")

FORMATS = ("dot", "mermaid", "json")


@COMMAND.callback()
def sessions() -> None:
    """Stored conversations."""  # a group, even while it has one command: typer would take that one for the group


@COMMAND.command()
def graph(
    id_: cli.ConversationArgument = None,
    format_: Annotated[str, typer.Option("--format", metavar="F", help="dot, mermaid or json.")] = "mermaid",
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Draw which notes the questions named, and which the answers found and cited."""
    if format_ not in FORMATS:
        raise UsageError(f"{format_!r} is not a format of a graph", f"Use one of: {', '.join(FORMATS)}")
    with cli.opened(Choices(vault, config_file=config)) as bench:
        conversation = bench.store.find(id_, str(bench.vault.root))
        drawn = relations(bench.store.history(conversation.id))
    screen = Screen.of()
    if as_json or format_ == "json":
        screen.json({"conversation_id": conversation.id, "title": conversation.title, **as_document(drawn)})
    else:
        screen.write(as_dot(drawn) if format_ == "dot" else as_mermaid(drawn))
