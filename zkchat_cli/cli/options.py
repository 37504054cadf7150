"""The options and arguments that several commands share, declared once."""

from pathlib import Path
from typing import Annotated, Any

import typer

from zkchat_cli.cli import completion

VaultOption = Annotated[Path | None, typer.Option("--vault", "-v", metavar="PATH", help="Folder of notes.")]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="PROVIDER[/NAME]",
        help="Model to use; `offline` needs no server.",
        autocompletion=completion.complete_models,
    ),
]
ConfigOption = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings file to use instead of yours.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
StrategyOption = Annotated[
    str | None, typer.Option("--strategy", metavar="S", help="What to send when the window is full: hybrid, summarize, discard.")
]
MaxContextOption = Annotated[int | None, typer.Option("--max-context", metavar="N", help="Context window in tokens.")]
AgentOption = Annotated[
    str | None,
    typer.Option(
        "--agent", metavar="NAME", help="Agent to use, or none; `zkchat agent list` lists them.", autocompletion=completion.complete_agents
    ),
]
LimitOption = Annotated[int, typer.Option("-k", "--limit", metavar="N", min=1, max=1000, help="Number of results.")]
ConversationArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[ID]", help="Conversation id or a unique prefix; the latest if left out.", autocompletion=completion.complete_conversations
    ),
]
IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Conversation id or a unique prefix.", autocompletion=completion.complete_conversations)
]
IdsArgument = Annotated[
    list[str],
    typer.Argument(metavar="ID...", help="Conversation ids or unique prefixes.", autocompletion=completion.complete_conversations),
]
ResumeOption = Annotated[
    str | None, typer.Option("--resume", metavar="ID", help="Continue this conversation.", autocompletion=completion.complete_conversations)
]
ConversationOption = Annotated[
    str | None, typer.Option("--cid", metavar="ID", help="Continue this conversation.", autocompletion=completion.complete_conversations)
]
DemoOption = Annotated[bool, typer.Option("--demo", help="Chat with the built-in notes, offline.")]
UnsafeOption = Annotated[bool, typer.Option("--unsafe", help="Let the model change notes; each change is shown and needs your approval.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="With --unsafe: approve all changes in advance, except those of memory.")]
ConfirmOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
NoStoreOption = Annotated[bool, typer.Option("--no-store", help="Keep nothing on disk.")]

SHARED: dict[str, Any] = {
    "agent": AgentOption,
    "strategy": StrategyOption,
    "max_context": MaxContextOption,
    "as_json": JsonOption,
    "vault": VaultOption,
    "model": ModelOption,
    "config_file": ConfigOption,
}
SETTINGS = ("as_json", "config_file")
NOTES = ("as_json", "vault", "config_file")
"""Options of commands that read notes or conversations."""
CHAT = ("agent", "strategy", "max_context", "vault", "model", "config_file")
PROMPT = tuple(SHARED)
"""Options of commands that build a prompt."""
COMPACT, EXPORT = PROMPT[1:], CHAT[1:]
"""The same for a stored conversation, which has its agent."""
