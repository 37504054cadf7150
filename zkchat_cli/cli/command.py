"""Drawer: one command, or group of commands, per file. Each declares `COMMAND`, a Typer app; the first line of its docstring is its help.

The options that commands share stand here once, and a `Call` is what they said: the only way to the notes, the conversations, a session,
and to the screen as the settings want it. A command declares with `command` which of them it takes, and is a function of its call:

    @cli.command(COMMAND, *cli.NOTES)
    def hubs(call: cli.Call, limit: LimitOption = 10) -> None:

Its file imports at its top what its help needs, which is next to nothing, and in its functions what a running command needs: pydantic and
SQLite alone take longer than a help may.
"""

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TextIO

import typer

from zkchat_cli import paths, registry
from zkchat_cli.app import startup_options
from zkchat_cli.cli import help_format
from zkchat_cli.errors import UsageError, ZkchatError
from zkchat_cli.terminal.screen import Screen

if TYPE_CHECKING:
    from zkchat_cli.app.factory import App
    from zkchat_cli.app.startup_options import StartupOptions
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.config.loader import LoadedConfig
    from zkchat_cli.models import IndexReport
    from zkchat_cli.vault.vault import Vault

P = ParamSpec("P")

DECLINED = 1
"""How a command ends that asked, and was told no: `zkchat sessions delete ID && …` must not go on."""
FINDING_OUT = 10.0
"""Seconds for which it is waited for a server to say how large a model's window is."""
TAB = 2.0
"""Seconds for which a Tab waits for servers to list their models."""
MOST_PIPED = 10_000_000
"""Characters: some millions of tokens."""
MOST_USED_FIRST = ("chat", "ask", "context", "sessions", "vault", "memory", "agent", "config", "keys", "tokens", "doctor")

VaultOption = Annotated[Path | None, typer.Option("--vault", "-v", metavar="PATH", help="Folder of notes.")]


def models() -> list[str]:
    """For the shell's completion of --model: the models that servers list, and the providers."""
    from zkchat_cli.app import factory
    from zkchat_cli.llm import providers

    try:
        loaded = factory.settings(startup_options.StartupOptions(), os.environ, Path.cwd())
        named = [name for offer in factory.available_models(loaded, os.environ, TAB) for name in offer.names]
    except (ZkchatError, OSError):
        named = ["offline"]
    return [*named, *(f"{provider}/" for provider in providers.names() if provider != "offline")]


def _models(incomplete: str) -> list[str]:
    return [name for name in models() if name.startswith(incomplete)]


ModelOption = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="PROVIDER[/NAME]", help="Model to ask; offline needs none.", autocompletion=_models),
]
ConfigOption = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings file to use instead of yours.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
StrategyOption = Annotated[str | None, typer.Option("--strategy", metavar="S", help="hybrid, summarize or discard.")]
MaxContextOption = Annotated[int | None, typer.Option("--max-context", metavar="N", help="Context window in tokens.")]
BestOption = Annotated[int, typer.Option("-k", "--limit", metavar="N", min=1, max=1000, help="How many results.")]
ConversationArgument = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="Conversation id or a unique prefix; the latest if left out.")
]


def agent_names(incomplete: str) -> list[str]:
    """For the shell's completion of an agent's name."""
    from zkchat_cli.agents import loader

    return [name for name in loader.names(loader.folder(paths.app_paths(os.environ).config_file)) if name.startswith(incomplete.lower())]


AgentOption = Annotated[
    str | None, typer.Option("--agent", metavar="NAME", help="Who leads: zkchat agent list; none: nobody.", autocompletion=agent_names)
]
UnsafeOption = Annotated[bool, typer.Option("--unsafe", help="Let the model change notes; each change is shown, and made if approved.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="With --unsafe: approve all changes beforehand.")]
SureOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
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
"""What a command takes that looks at notes or conversations."""
PROMPT = tuple(SHARED)
"""What a command takes that makes a prompt, as a call of the model would."""


class CommandContext:
    """One call of a command: what the shared options said, and the only way to what the command works on."""

    def __init__(self, *, as_json: bool = False, **chosen: Any) -> None:
        self.as_json = as_json
        self.chosen = chosen

    def choices(self, **more: Any) -> "StartupOptions":
        from zkchat_cli.app.startup_options import StartupOptions

        return StartupOptions(**self.chosen, **more)

    @cached_property
    def loaded(self) -> "LoadedConfig":
        """The settings. Raises ConfigError."""
        from zkchat_cli.app import factory

        return factory.settings(self.choices(), os.environ, Path.cwd())

    @cached_property
    def screen(self) -> Screen:
        """With the looks that the settings want; where they are wrong, which a command that needs them says, with the usual ones."""
        screen = Screen.of()
        with suppress(ZkchatError, OSError):
            screen = screen.with_settings(self.loaded.values.terminal)
        return screen

    @contextmanager
    def opened(self, **more: Any) -> "Iterator[App]":
        """The vault, store and model that the settings name, closed again whatever happens; `more` is chosen besides."""
        with opened(self.choices(**more)) as bench:
            yield bench

    @contextmanager
    def vault(self) -> "Iterator[Vault]":
        """Only the vault, as it was indexed last: looking at notes needs neither the conversations nor a model."""
        from zkchat_cli.app import factory

        vault = factory.open_vault(self.loaded, os.environ, Path.cwd())
        try:
            yield vault
        finally:
            vault.close()

    @contextmanager
    def notes(self, *, full: bool = False) -> "Iterator[tuple[Vault, IndexReport]]":
        """The vault with its index brought up to date, or with `full` built anew, and what that changed."""
        with self.vault() as vault:
            with self.screen.progress_bar("Indexing") as progress:
                report = vault.refresh(full=full, progress=progress)
            self.tell_rebuilt(report)
            yield vault, report

    def tell_rebuilt(self, report: "IndexReport") -> None:
        if report.rebuilt:
            self.screen.warn(f"the index was rebuilt: {report.rebuilt}")

    @contextmanager
    def session(self, id_: str | None, *, indexed: bool = False) -> "Iterator[ZkChatSession]":
        """A session on a stored conversation, to look at; `indexed` brings the index up to date first."""
        with self.opened() as bench:
            conversation = bench.find(id_)
            bench.counter.warm()
            if indexed:
                bench.vault.refresh()
            session = bench.session(conversation)
            if session.parts.window is None:
                session.prepare(FINDING_OUT)  # the window that the next call would have
            yield session


def command(
    group: typer.Typer, *shared: str, name: str | None = None, epilog: str | None = None
) -> Callable[[Callable[Concatenate[CommandContext, P], None]], Callable[..., None]]:
    """Make a function a command of a group, which takes the `shared` options named besides its own, as a `Call`."""

    def declared(body: Callable[Concatenate[CommandContext, P], None]) -> Callable[..., None]:
        @wraps(body)
        def called(**given: Any) -> None:
            call = CommandContext(**{option: given.pop(option, None) for option in shared})
            try:
                body(call, **given)  # type: ignore[call-arg]  # by the names that `body` has
            except ZkchatError as e:
                e.in_ascii = call.screen.ascii
                raise

        named = inspect.Parameter.KEYWORD_ONLY
        _, *own = inspect.signature(body).parameters.values()
        told = [
            inspect.Parameter(option, named, default=False if option == "as_json" else None, annotation=SHARED[option]) for option in shared
        ]
        takes = [parameter.replace(kind=named) for parameter in own] + told
        called.__signature__ = inspect.Signature(takes)  # type: ignore[attr-defined]  # typer makes the options of it
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in takes}
        group.command(name, epilog=epilog)(called)
        return called

    return declared


def app(help_text: str = "", *rooms: typer.Typer) -> typer.Typer:
    """A Typer app with zkchat's manners; a group of commands has a `help_text`, and shows it where no command is named.

    The commands of a large group stand in several files, which are its `rooms`.
    """
    made = typer.Typer(
        cls=help_format.Group,
        help=help_text or None,
        rich_markup_mode=None,
        no_args_is_help=bool(help_text),
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for room in rooms:
        made.registered_commands += room.registered_commands
    return made


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
def opened(choices: "StartupOptions") -> "Iterator[App]":
    """The vault, store and model that the settings name, closed again whatever happens."""
    from zkchat_cli.app import factory

    bench = factory.open_app(choices, os.environ, Path.cwd())
    try:
        yield bench
    finally:
        bench.close()


def first_start(screen: Screen) -> "tuple[Path | None, str | None]":
    """The notes and the model that somebody chose who has no settings yet; None, None for everyone else."""
    from zkchat_cli.paths import app_paths  # not needed by --help

    if not sys.stdin.isatty() or os.environ.get("ZKCHAT_VAULT") or app_paths(os.environ).config_file.exists():
        return None, None  # known without loading all that the guide needs, which would keep the prompt waiting
    from zkchat_cli.terminal import onboarding

    here = Path.cwd()
    loaded = onboarding.wanted(os.environ, here)
    if loaded is None:
        return None, None
    try:
        return onboarding.guide(loaded, os.environ, here, screen, _set)
    except EOFError:
        raise typer.Exit from None


def _set(key: str, value: str) -> None:
    """`zkchat config set`, whose file is not ours to import: commands do not know each other."""
    from zkchat_cli.cli import commands as files

    commands = registry.load(files, "config", "COMMAND").registered_commands
    next(command.callback for command in commands if command.name == "set")(key=key, value=value)
