"""How Typer is used: its commands and groups with a help that shows arguments as they are typed and
summaries in full, and the options and arguments that several commands share, declared once, with
the values that a shell completes.

Completions import what they need when they are called, so that declaring the options stays cheap.
Shells evaluate parts of what they are given, so help texts that contain a user's words are reduced
to harmless characters.
"""

import os
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, cast

from typer import Argument, BadParameter, Option
from typer.core import TyperCommand, TyperGroup

from zkchat_cli.paths import app_paths

CONVENTIONS: dict[str, Any] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""What every Typer app here is made with."""


class _Formatter(TyperGroup.context_class.formatter_class):  # type: ignore[misc, name-defined]  # of the click in Typer
    def write_dl(self, rows: Sequence[tuple[str, str]], *args: Any, **named: Any) -> None:
        # The left column without the types of values, such as <int>
        super().write_dl(
            [(re.sub(r" <\S+>$", "", left), right) for left, right in rows], *args, **named
        )


class _Context(TyperGroup.context_class):  # type: ignore[misc, valid-type]  # as above
    formatter_class = _Formatter


class _ValueConverter:
    """Converts what was typed to a text, texts, a path or a whole number. Typer imports pydantic
    for that, which would delay the chat's prompt by 60 ms.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of an option or argument. Raises BadParameter for a wrong one."""
        if value is None:
            return None
        if isinstance(value, tuple):
            return list(value)
        kind = param.type_descriptor.annotation
        try:
            converted = kind(value)
        except ValueError:
            expected = "a whole number" if kind is int else "one of those in --help"
            raise BadParameter(f"it must be {expected}", ctx, param) from None
        if not _is_between(converted, param.min, param.max):
            most = f" and at most {param.max}" if param.max is not None else ""
            raise BadParameter(f"it must be at least {param.min}{most}", ctx, param)
        return converted


def _is_between(value: Any, low: int | None, high: int | None) -> bool:
    if low is not None and value < low:
        return False
    return high is None or value <= high


class _CommandMixin:
    """What commands and groups have in common: how values are read, and how the help looks."""

    context_class: Any = _Context

    def get_params(self, ctx: Any) -> Any:
        parameters = super().get_params(ctx)  # type: ignore[misc]  # of the class beside this one
        for parameter in parameters:
            parameter._runtime_param = _ValueConverter()
        return parameters


class Command(_CommandMixin, TyperCommand):
    """A command, with its arguments in the usage as the help shows them."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The words of the usage after the command's name."""
        arguments = [each for each in self.params if each.param_type_name == "argument"]
        return ["[OPTIONS]", *(str(each.metavar) for each in arguments)]


class Group(_CommandMixin, TyperGroup):
    """A group of commands."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with their complete summaries instead of truncated ones."""
        rows = []
        for name in self.list_commands(ctx):
            command = cast(Any, self.get_command(ctx, name))
            rows.append((name, command.get_short_help_str(LONGEST_SUMMARY)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


# Characters of a command's summary in a list: all of them
LONGEST_SUMMARY = 10_000
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
    from zkchat_cli.app.stores import open_store_to_read

    with closing(open_store_to_read(app_paths(os.environ).store_file)) as store:
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
