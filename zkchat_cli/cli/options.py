"""The options and arguments that several commands share, declared once, with the values that a
shell completes.

Completions import what they need when they are called, so that declaring the options stays cheap.
Shells evaluate parts of what they are given, so help texts that contain a user's words are reduced
to harmless characters.
"""

import os
import re
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from zkchat_cli.paths import app_paths

# Conversations that a shell completes
MAX_CONVERSATIONS = 50
_UNSAFE = re.compile(r"[^\w .,/@+=_%~’-]")


# Typer leaves out what does not begin with the typed text
def complete_agents() -> list[str]:
    """The names of the agents."""
    from zkchat_cli.agents import loader

    return loader.list_names(app_paths(os.environ).agents_folder)


def complete_mentions() -> list[str]:
    """The names of the agents, as a question mentions them."""
    return [f"@{name}" for name in complete_agents()]


def complete_models() -> list[str]:
    """The providers, and the models that they know without asking a server, which would take too
    long.
    """
    from zkchat_cli.llm import providers

    names = providers.suggested_names()
    models: list[str] = []
    for name in names:
        known_models = providers.provider(name).known_models()
        models += [f"{name}/{model}" for model in known_models]
    servers = [name if name == "offline" else f"{name}/" for name in names]
    return [*servers, *models]


def complete_settings() -> list[tuple[str, str]]:
    """The keys of the settings, each with its description."""
    from zkchat_cli.config import loader, provider_tables

    return [
        (key, _shell_safe(provider_tables.describe_setting(key))) for key in loader.default_values()
    ]


def complete_conversations(incomplete: str) -> list[tuple[str, str]]:
    """The ids of the latest conversations that begin so, each with its title and day."""
    from zkchat_cli.app.stores import open_configured
    from zkchat_cli.config.loader import load_config

    loaded = load_config({}, os.environ, app_paths(os.environ))
    with closing(open_configured(loaded, to_read=True)) as store:
        stored = store.conversations(None, None)
    found = [each for each in stored if each.id.startswith(incomplete)]
    completions: list[tuple[str, str]] = []
    for each in found[:MAX_CONVERSATIONS]:
        day = each.updated_at[:10]
        completions.append((each.id, _shell_safe(f"{each.title or ''} {day}")))
    return completions


def _shell_safe(text: str) -> str:
    return " ".join(_UNSAFE.sub(" ", text.replace("'", "’")).split())


LimitOption = Annotated[
    int, Option("-k", "--limit", metavar="N", min=1, max=1000, help="Number of results.")
]
_ids: dict[str, Any] = {"autocompletion": complete_conversations}
ConversationArgument = Annotated[
    str | None,
    Argument(
        metavar="[ID]", help="Conversation id or a unique prefix; the latest if left out.", **_ids
    ),
]
IdArgument = Annotated[
    str, Argument(metavar="ID", help="Conversation id or a unique prefix.", **_ids)
]
IdsArgument = Annotated[
    list[str], Argument(metavar="ID...", help="Conversation ids or unique prefixes.", **_ids)
]
ResumeOption = Annotated[
    str | None, Option("--resume", metavar="ID", help="Continue this conversation.", **_ids)
]
ConversationOption = Annotated[
    str | None, Option("--cid", metavar="ID", help="Continue this conversation.", **_ids)
]
DemoOption = Annotated[bool, Option("--demo", help="Chat with the built-in notes, offline.")]
UnsafeOption = Annotated[
    bool,
    Option(
        "--unsafe", help="Let the model change notes; each change is shown and needs your approval."
    ),
]
YesOption = Annotated[
    bool,
    Option(
        "--yes", "-y", help="With --unsafe: approve all changes in advance, except those of memory."
    ),
]
ConfirmOption = Annotated[bool, Option("--yes", "-y", help="Do not ask for confirmation.")]
NoStoreOption = Annotated[bool, Option("--no-store", help="Keep nothing on disk.")]

_agent_help = "Agent to use, or none; `zkchat agent list` lists them."
_model_help = "Model to use; `offline` needs no server."
SHARED: dict[str, Any] = {
    "agent": Annotated[
        str | None,
        Option("--agent", metavar="NAME", help=_agent_help, autocompletion=complete_agents),
    ],
    "strategy": Annotated[
        str | None,
        Option(
            "--strategy",
            metavar="S",
            help="What to send when the window is full: hybrid, summarize, discard.",
        ),
    ],
    "max_context": Annotated[
        int | None, Option("--max-context", metavar="N", help="Context window in tokens.")
    ],
    "as_json": Annotated[bool, Option("--json", help="Print one JSON document.")],
    "vault": Annotated[
        Path | None, Option("--vault", "-v", metavar="PATH", help="Folder of notes.")
    ],
    "model": Annotated[
        str | None,
        Option(
            "--model",
            "-m",
            metavar="PROVIDER[/NAME]",
            help=_model_help,
            autocompletion=complete_models,
        ),
    ],
    "config_file": Annotated[
        Path | None,
        Option("--config", metavar="FILE", help="Settings file to use instead of yours."),
    ],
}
SETTINGS = ("as_json", "config_file")
# Options of commands that read notes or conversations
NOTES = ("as_json", "vault", "config_file")
CHAT = ("agent", "strategy", "max_context", "vault", "model", "config_file")
# Options of commands that build a prompt
PROMPT = tuple(SHARED)
# The same options for a stored conversation, which has an agent already
COMPACT = PROMPT[1:]
EXPORT = CHAT[1:]
