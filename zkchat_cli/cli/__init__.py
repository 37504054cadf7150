"""Drawer: one command, or group of commands, per file. Each declares `COMMAND`, a Typer app; the first line of its docstring is its help.

The options that commands share stand here once, with the one function that opens what a command works on.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from zkchat_cli import drawer
from zkchat_cli.errors import UsageError

if TYPE_CHECKING:
    from zkchat_cli.terminal.screen import Screen
    from zkchat_cli.vault import Vault
    from zkchat_cli.wiring import Bench, Choices

DECLINED = 1
"""How a command ends that asked, and was told no: `zkchat sessions delete ID && …` must not go on."""
TAB = 2.0
"""Seconds for which a Tab waits for servers to list their models."""
MOST_PIPED = 10_000_000
"""Characters: some millions of tokens."""
MOST_USED_FIRST = ("chat", "ask", "context", "sessions", "vault", "memory", "agent", "config", "keys", "tokens", "doctor")

VaultOption = Annotated[Path | None, typer.Option("--vault", "-v", metavar="PATH", help="Folder of notes.")]


def models() -> list[str]:
    """For the shell's completion of --model: the models that servers list, and the providers."""
    from zkchat_cli import wiring  # as in `opened`
    from zkchat_cli.errors import ZkchatError
    from zkchat_cli.llm import providers

    try:
        loaded = wiring.settings(wiring.Choices(), os.environ, Path.cwd())
        named = [name for offer in wiring.offers(loaded, os.environ, TAB) for name in offer.names]
    except (ZkchatError, OSError):
        named = ["offline"]
    return [*named, *(f"{provider}/" for provider in providers.names() if provider != "offline")]


def _models(incomplete: str) -> list[str]:
    return [name for name in models() if name.startswith(incomplete)]


ModelOption = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="PROVIDER[/NAME]", help="Model to ask; offline needs none.", autocompletion=_models),
]
ConfigOption = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings file to use instead of the user's.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
StrategyOption = Annotated[str | None, typer.Option("--strategy", metavar="S", help="hybrid, summarize or discard.")]
MaxContextOption = Annotated[int | None, typer.Option("--max-context", metavar="N", help="Context window in tokens.")]
ConversationArgument = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="Conversation id or a unique prefix; the latest if left out.")
]


def agent_names(incomplete: str) -> list[str]:
    """For the shell's completion of an agent's name."""
    from zkchat_cli import config  # as in `opened`
    from zkchat_cli.agents import loading

    return [name for name in loading.names(loading.folder(config.places(os.environ).config_file)) if name.startswith(incomplete.lower())]


AgentOption = Annotated[
    str | None, typer.Option("--agent", metavar="NAME", help="Who leads: zkchat agent list; none: nobody.", autocompletion=agent_names)
]
UnsafeOption = Annotated[bool, typer.Option("--unsafe", help="Let the model change notes; each change is shown, and made if approved.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="With --unsafe: approve all changes beforehand.")]
SureOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
NoStoreOption = Annotated[bool, typer.Option("--no-store", help="Keep nothing on disk.")]


NARROW = 52
"""Columns below which typer's help would run over the edge; there a text begins below what it is about, not beside it."""


class _Formatter(TyperGroup.context_class.formatter_class):  # type: ignore[misc, name-defined, unused-ignore]  # click's or typer's own, by its version
    """Lays help out as typer does, but within a narrow terminal, too, and names arguments as they are written, without their types."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        columns = shutil.get_terminal_size().columns
        self._narrow = columns < NARROW
        if self._narrow:
            self.width = max(columns - 1, 20)

    def write_usage(self, prog: str, args: str = "", *more: Any) -> None:
        args = re.sub(r" \[[a-z]+\](\.\.\.)?", "", args)  # one that is hidden: ours are in capitals
        args = re.sub(r"\[(\[[^\[\]]*\](?:\.\.\.)?)\](?:\.\.\.)?", r"\1", args)  # typer brackets what we have bracketed
        super().write_usage(prog, re.sub(r"\{([^{}]*)\}(?:\.\.\.)?", r"\1", args), *more)

    def write_dl(self, rows: Sequence[tuple[str, str]], *args: Any, **named: Any) -> None:
        plain = [(re.sub(r" <[\w\[\]]+>$", "", left), right.removesuffix("[required]").rstrip()) for left, right in rows]
        super().write_dl(plain, *((4,) if self._narrow else args), **({} if self._narrow else named))


class _Context(TyperGroup.context_class):  # type: ignore[misc, valid-type]  # as above
    formatter_class = _Formatter


def fitted(command: Any) -> Any:
    """A command of typer's whose help fits the terminal."""
    if command is not None:
        command.context_class = _Context
    return command


class Group(TyperGroup):
    """A group of commands that are listed by their whole first sentences, not by as much of them as fits a line."""

    context_class = _Context

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return fitted(super().get_command(ctx, cmd_name))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.label(ctx, name)) for name in self.list_commands(ctx)])

    def label(self, ctx: Any, name: str) -> str:
        """What is said of a command in the list."""
        return str(self.get_command(ctx, name).get_short_help_str(10_000))


def app(help_text: str = "") -> typer.Typer:
    """A Typer app with zkchat's manners; a group of commands has a `help_text`, and shows it where no command is named."""
    return typer.Typer(
        cls=Group,
        help=help_text or None,
        rich_markup_mode=None,
        no_args_is_help=bool(help_text),
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def examples(*calls: str) -> str:
    """What stands below a command's help: calls as one types them, a line each."""
    return "\b\n" + "\n".join(calls)


def piped() -> TextIO:
    """Standard input, for who asked for it with `-`. Raises UsageError where there is none (a service, `<&-`)."""
    if sys.stdin is None:
        raise UsageError("there is no standard input to read", "Pipe a text in, or name a file.")
    return sys.stdin


def no_more_than_fits(text: str) -> str:
    """`text`, a message that was piped in. Raises UsageError for one that no model would take: counting it alone would take minutes."""
    if len(text) > MOST_PIPED:
        hint = "Pipe in less of it, or put it among your notes, which are searched."
        raise UsageError(f"standard input has a message of more than {MOST_PIPED:,} characters, and no model takes so much", hint)
    return text


def agreed(question: str, command: str, *, yes: bool) -> None:
    """Come back only if `yes` was said beforehand, or is answered now. Raises UsageError where nobody can answer; a no ends with 1."""
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(f"{command} asks before it acts", "Say --yes where nobody can answer.")
    if not typer.confirm(question, err=True):
        typer.echo("Nothing was changed.", err=True)
        raise typer.Exit(DECLINED)


@contextmanager
def opened(choices: "Choices") -> "Iterator[Bench]":
    """The vault, store and model that the settings name, closed again whatever happens."""
    from zkchat_cli import wiring  # loads pydantic and sqlite: only commands that run need them, not `--help`

    bench = wiring.open_bench(choices, os.environ, Path.cwd())
    try:
        yield bench
    finally:
        bench.close()


@contextmanager
def opened_vault(choices: "Choices") -> "Iterator[Vault]":
    """Only the vault: looking at notes needs neither the conversations nor a model."""
    from zkchat_cli import wiring  # as above

    vault = wiring.open_vault(wiring.settings(choices, os.environ, Path.cwd()), os.environ, Path.cwd())
    try:
        yield vault
    finally:
        vault.close()


def first_start(screen: "Screen") -> "tuple[Path | None, str | None]":
    """The notes and the model that somebody chose who has no settings yet; None, None for everyone else."""
    from zkchat_cli.places import places  # not needed by --help

    if not sys.stdin.isatty() or os.environ.get("ZKCHAT_VAULT") or places(os.environ).config_file.exists():
        return None, None  # known without loading all that the guide needs, which would keep the prompt waiting
    from zkchat_cli.terminal import first_start

    here = Path.cwd()
    loaded = first_start.wanted(os.environ, here)
    if loaded is None:
        return None, None
    try:
        return first_start.guide(loaded, os.environ, here, screen, _set)
    except EOFError:
        raise typer.Exit from None


def _set(key: str, value: str) -> None:
    """`zkchat config set`, whose file is not ours to import: commands do not know each other."""
    commands = drawer.take(sys.modules[__name__], "config", "COMMAND").registered_commands
    next(command.callback for command in commands if command.name == "set")(key, value)
