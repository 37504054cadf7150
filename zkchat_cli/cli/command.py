"""What every command is made of: `command` declares one with the shared options it takes, and
passes it a `CommandContext`.

    @command(COMMAND, *options.NOTES)
    def search(ctx: CommandContext, query: str, limit: LimitOption = 10) -> None:

A command's file imports at its top only what its help needs, and inside its functions what running
it needs: importing pydantic and SQLite alone takes longer than printing a help page may.
"""

import inspect
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from zkchat_cli import paths
from zkchat_cli.cli import options, typer_adapter
from zkchat_cli.errors import UsageError, reason
from zkchat_cli.fileio import read_file
from zkchat_cli.terminal.job_control import paged
from zkchat_cli.terminal.screen import Screen

if TYPE_CHECKING:
    from zkchat_cli.app.factory import App
    from zkchat_cli.app.settings import StartupOptions
    from zkchat_cli.chat.message_vectors import MessageEmbedder
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.config.loader import LoadedConfig
    from zkchat_cli.models.notes import IndexReport
    from zkchat_cli.store.port import SessionStore
    from zkchat_cli.tokens.counter import TokenCounter
    from zkchat_cli.vault.vault import Vault
    from zkchat_cli.views.text import StyledLine

# Exit code of a command after a no to its question, so that `zkchat sessions delete ID && …` stops
DECLINED = 1
EMBEDDING_SECONDS = 1.0
# Seconds to wait for a server to report the size of a model's window
WINDOW_TIMEOUT = 10.0
# Most characters from a pipe: some millions of tokens
MAX_PIPED = 10_000_000

# The function of a command
Body = Callable[..., None]


class CommandContext:
    """One run of a command: its shared options, and access to settings, vault, store, session and
    screen, each opened when it is used.
    """

    def __init__(self, *, as_json: bool = False, **shared: Any) -> None:
        self.as_json = as_json
        self.shared = shared

    @cached_property
    def screen(self) -> Screen:
        """The screen that the settings `terminal.…` describe.

        These settings are read without the others, because the prompt is drawn before all are
        loaded.
        """
        written = self.user_settings.get("terminal", {})
        env = os.environ
        accessible = env.get("ZKCHAT_TERMINAL__ACCESSIBLE") or str(written.get("accessible", ""))
        background = env.get("ZKCHAT_TERMINAL__BACKGROUND") or str(written.get("background", ""))
        return Screen.of(accessible=accessible.lower() in ("true", "1"), background=background)

    @cached_property
    def user_settings(self) -> dict[str, Any]:
        """The tables of the user's settings file, as written.

        Empty if the file cannot be read: loading the settings reports that.
        """
        try:
            data = read_file(self.paths.config_file, paths.MAX_SETTINGS_BYTES)
            # Imported only if there is a file
            import tomllib

            written = tomllib.loads(data.decode("utf-8-sig"))
            return {key: value for key, value in written.items() if isinstance(value, dict)}
        except (OSError, ValueError):
            return {}

    def startup_options(self, *, demo: bool = False, **more: Any) -> "StartupOptions":
        """The shared options and `more`; with `demo`, the built-in notes are the vault.

        Raises UsageError if another vault is named too.
        """
        from zkchat_cli.app.settings import StartupOptions, demo_vault

        options = StartupOptions(**self.shared, **more)
        if demo and options.vault is not None:
            raise UsageError("--demo uses its own notes", "Leave out --vault or --demo.")
        return options._replace(vault=demo_vault(self.paths)) if demo else options

    @property
    def paths(self) -> paths.AppPaths:
        """The places of settings, conversations and keys; --config replaces the settings file."""
        return paths.app_paths(os.environ, self.shared.get("config_file"))

    @cached_property
    def config(self) -> "LoadedConfig":
        """The settings of all layers, with these options on top."""
        from zkchat_cli.app.settings import load_settings

        return load_settings(self.startup_options(), os.environ, Path.cwd())

    def print_result(
        self, document: object, shown: "str | Iterable[StyledLine]", empty_text: str = ""
    ) -> None:
        """Print a command's result: with --json the JSON document, otherwise the text or the lines.

        Long lines go through the pager. If there are no lines, `empty_text` says so on stderr.
        """
        if self.as_json:
            self.screen.json(document)
            return
        if isinstance(shown, str):
            is_empty = not shown
            with paged(self.screen) as pager:
                if shown:
                    pager.print(shown)
        else:
            lines = list(shown)
            is_empty = not lines
            with paged(self.screen.with_width()) as pager:
                pager.show(lines)
        if empty_text and is_empty:
            self.screen.remark(empty_text)

    def open_app(self, **more: Any) -> "closing[App]":
        """Everything that a session needs, opened with the shared options and `more`."""
        from zkchat_cli.app import factory

        return closing(factory.open_app(self.startup_options(**more), os.environ, Path.cwd()))

    @contextmanager
    def open_store(self, *, anywhere: bool = True) -> "Iterator[tuple[SessionStore, str | None]]":
        """The store, and the real path of the vault, which identifies its conversations.

        The path is None without a vault; if only conversations of a vault are acceptable (not
        `anywhere`), that is a VaultError.
        """
        from zkchat_cli.app.settings import required_vault_folder, vault_folder
        from zkchat_cli.app.stores import open_configured

        folder = vault_folder(self.config) if anywhere else required_vault_folder(self.config)
        with closing(open_configured(self.config, to_read=True)) as store:
            if store.away is not None:
                self.screen.warn(f"{store.away.message}; only what is kept on this machine is here")
            yield store, str(folder.resolve()) if folder is not None else None

    def open_vault(self) -> "closing[Vault]":
        """The vault alone, with its index from the last time: reading notes needs neither the
        conversations nor a model.
        """
        from zkchat_cli.app import factory

        return closing(factory.open_vault(self.config))

    @contextmanager
    def indexed_vault(self, *, full: bool = False) -> "Iterator[tuple[Vault, IndexReport]]":
        """The vault with an up-to-date index (`full`: rebuilt), and the report of what changed."""
        with self.open_vault() as vault:
            report = self.refresh(vault, full=full)
            if report.rebuilt:
                self.screen.warn(f"the index was rebuilt: {report.rebuilt}")
            if report.unfinished:
                self.screen.warn(report.unfinished)
            yield vault, report

    def refresh(self, vault: "Vault", *, full: bool = False) -> "IndexReport":
        """Update a vault's index (`full`: rebuild it), with a progress bar."""
        with self.screen.progress_bar("Indexing") as progress:
            return vault.refresh(full=full, progress=progress)

    def embed_for_a_moment(self, vault: "Vault", messages: "MessageEmbedder | None" = None) -> None:
        """Compute missing vectors for a moment while somebody reads the output.

        A program that waits for the end is not kept waiting. The time that the answer has waited
        for vectors counts.
        """
        if not self.screen.out.isatty():
            return
        self.screen.out.flush()
        waited = vault.semantic.waiting.seconds if vault.semantic else 0.0
        end = time.monotonic() + EMBEDDING_SECONDS - waited
        with suppress(KeyboardInterrupt), closing(messages) if messages else nullcontext():
            if messages:
                messages.compute_missing(lambda: time.monotonic() > end)
            vault.embed(seconds=end - time.monotonic())

    def warn_about_estimates(self, counter: "TokenCounter") -> None:
        """Print why a counter estimates tokens by characters, if it does."""
        if counter.problem is not None:
            self.screen.warn(counter.problem.warning, counter.problem.hint)

    def print_warnings(self, vault: "Vault") -> None:
        """Print what went wrong in searches of a vault, on standard error."""
        for warning in vault.take_warnings():
            self.screen.warn(warning.message, warning.hint)

    @contextmanager
    def open_session(
        self, id_: str | None, *, indexed: bool = False, may_be_new: bool = False
    ) -> "Iterator[ZkChatSession]":
        """A session on a stored conversation, for inspection; `indexed`: update the index first.

        If it `may_be_new`, a vault without a conversation gets a session on a new one, which is not
        stored.
        """
        with self.open_app() as app:
            conversation = None
            if not may_be_new or id_ is not None or app.has_conversations:
                conversation = app.find(id_)
            if indexed:
                app.vault.refresh()
            session = app.session(conversation)
            self.warn_about_estimates(app.counter)
            runtime = session.runtime
            if runtime.configured_window is None or runtime.settings.retrieval.mode == "auto":
                # The next call would have the window that the server reports, and tools if the
                # model accepts any
                session.runtimes.prepare(WINDOW_TIMEOUT)
            yield session
            for warning, hint in session.services.faults.take_notices():
                self.screen.warn(warning, hint)


def command(
    group: typer.Typer, *shared: str, examples: Sequence[str] = (), default: bool = False
) -> Callable[[Body], Body]:
    """Declare a function as the command with its name, less a `_` at the end, with the named
    `shared` options, which it gets as a CommandContext, and its own.

    A `default` is what the group itself runs, before a command of it or without one. Its help ends
    with the `examples`, one per line.
    """
    epilog = "\b\n" + "\n".join(examples) if examples else None

    def declare(body: Body) -> Body:
        @wraps(body)
        def run(**given: Any) -> None:
            body(CommandContext(**{option: given.pop(option, None) for option in shared}), **given)

        _, *parameters = inspect.signature(body).parameters.values()
        for option in shared:
            unset = False if option == "as_json" else None
            parameters.append(
                inspect.Parameter(
                    option,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=unset,
                    annotation=options.SHARED[option],
                )
            )
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # Typer reads the options from it
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        if default:
            group.callback(invoke_without_command=True, no_args_is_help=False, epilog=epilog)(run)
        else:
            group.command(
                body.__name__.removesuffix("_"), cls=typer_adapter.Command, epilog=epilog
            )(run)
        return run

    return declare


def command_group(help_text: str = "") -> typer.Typer:
    """A Typer app with zkchat's conventions.

    A group has a `help_text`, which is shown if no command is named.
    """
    more: dict[str, Any] = {}
    if help_text:
        more = {"help": help_text, "no_args_is_help": True}
    return typer.Typer(
        cls=typer_adapter.Group, add_completion=False, **more, **typer_adapter.CONVENTIONS
    )


@contextmanager
def optional_package(purpose: str, extra: str) -> Iterator[None]:
    """Use it around an import: if the package is missing, it raises UsageError with the command
    that installs an `extra` of zkchat.
    """
    try:
        yield
    except ModuleNotFoundError as e:
        raise UsageError(
            f"{purpose} needs a package that is not installed", f"pip install 'zkchat[{extra}]'"
        ) from e


def read_piped(read: Callable[[int], str]) -> str:
    """A message from a pipe.

    Raises UsageError if no model could take it: counting its tokens alone would take minutes.
    """
    text = read(MAX_PIPED + 1)
    if len(text) > MAX_PIPED:
        hint = "Pipe in less of it, or make it a note: notes are searched."
        raise UsageError(
            f"standard input has a message of more than {MAX_PIPED:,} characters, too long "
            "for any model",
            hint,
        )
    return text


def read_input(file: str, limit: int, expected: str) -> bytes:
    """The content of a file, or for `-` of standard input.

    Raises UsageError for what cannot be read, or is longer than `limit` bytes.
    """
    try:
        data = sys.stdin.buffer.read(limit + 1) if file == "-" else read_file(file, limit)
        if len(data) > limit:
            raise ValueError("it is too large")
        return data
    except (OSError, ValueError) as e:
        source = "standard input" if file == "-" else file
        hint = f"Name {expected} of at most {limit // 1_000_000} MB, or - for standard input."
        raise UsageError(f"cannot read {source}: {reason(e)}", hint) from e


def confirm(question: str, command_name: str, *, yes: bool) -> None:
    """Return if the user agrees, now or with --yes.

    Exits with DECLINED after a no. Raises UsageError if nobody can answer.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            f"{command_name} asks for confirmation", "Use --yes where nobody can answer."
        )
    if not typer.confirm(question, err=True):
        typer.echo("Nothing was changed.", err=True)
        raise typer.Exit(DECLINED)
