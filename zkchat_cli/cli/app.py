"""The root of the command line: finds commands in the registry `cli.commands`, and turns errors
into exit codes, here and nowhere else.

Commands are listed by the first line of their file's docstring and imported when they run, so that
`--help` costs little more than importing Typer.
"""

# ruff: noqa: E402

import signal
import threading

_handles_sigint = (
    signal.getsignal(signal.SIGINT) is signal.default_int_handler
    and threading.current_thread() is threading.main_thread()
)
# Ctrl-C during the imports ends the program like any other, without a traceback
if _handles_sigint:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import errno
import gc
import json
import logging
import os
import shlex
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from itertools import takewhile
from typing import Any

import typer

from zkchat_cli import __version__
from zkchat_cli.cli import typer_adapter
from zkchat_cli.cli.argument_order import (
    GLOBAL_OPTIONS,
    ROOT_OPTIONS,
    split_arguments,
    with_command,
)
from zkchat_cli.cli.commands import COMMANDS
from zkchat_cli.cli.environment import environment_warnings
from zkchat_cli.cli.failure import CommandFailed
from zkchat_cli.errors import UsageError, ZkchatError, reason

if _handles_sigint:
    signal.signal(signal.SIGINT, signal.default_int_handler)

EXIT_CODES = {
    "unexpected": 1,
    "tokenizer": 1,
    "usage": 2,
    "config": 2,
    "prompt_too_large": 2,
    "vault": 3,
    "index": 3,
    "store": 3,
    "provider": 4,
}
GC_THRESHOLDS = 100_000, 20, 50
"""Python seldom looks for cycles of objects. Imports, turns and indexing free little, and looking
would cost 30 ms of start-up and 5 ms of a turn.
"""
INTERRUPTED = 130
# The reader of the output is gone: the code of a program that SIGPIPE ended, such as git or cat
OUTPUT_CLOSED = 141
MOST_WORDS = 2
"""Words of a mistyped command; more are a question."""


class LazyCommandGroup(typer_adapter.Group):
    """The commands of the registry, each imported when it is used."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Their names, as the help lists them."""
        return [entry.name for entry in COMMANDS.summaries()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command of that name; None if there is none."""
        if cmd_name not in COMMANDS.names():
            return None
        command = typer_adapter.build_command(COMMANDS.load(cmd_name))
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the list of commands into the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.line) for entry in COMMANDS.summaries()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments begin with. Raises UsageError that says what may have been
        meant.
        """
        if args[0] not in COMMANDS.names():
            raise self._unknown_command(ctx, args)
        return super().resolve_command(ctx, args)

    def _unknown_command(self, ctx: Any, args: list[str]) -> UsageError:
        name = args[0]
        words = list(takewhile(lambda arg: not arg.startswith("-"), args))
        similar: list[str] = []
        for group in self.list_commands(ctx):
            commands = getattr(self.get_command(ctx, group), "commands", ())
            if name in commands:
                similar.append(f"{group} {name}")
        if not similar and len(words) <= MOST_WORDS:
            similar = get_close_matches(name, self.list_commands(ctx))
        question = " ".join(words)
        hint = "See zkchat --help"
        if os.path.isdir(name):  # noqa: PTH112
            hint = f"To open a folder: zkchat --vault {shlex.quote(name)}"
        elif " " in question and not similar:
            hint = f'To ask a question: zkchat ask "{question}"'
        return UsageError(f"no such command '{name}'{_did_you_mean(map(repr, similar))}", hint)


app = typer.Typer(
    name="zkchat",
    cls=LazyCommandGroup,
    help=(
        "Chat with your own notes, and check what every answer is based on. Without a command, "
        "it opens the chat."
    ),
    epilog="Start with: zkchat chat --demo",
    **typer_adapter.CONVENTIONS,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"zkchat {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False,
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Print the version and exit.",
    ),
    no_color: bool = typer.Option(
        False, "--no-color", help="No colors, like NO_COLOR. Works anywhere on the command line."
    ),
    verbose: bool = typer.Option(
        False,
        "--verbose",
        help=(
            "Write a log file and show where an error comes from. Works anywhere on the "
            "command line."
        ),
    ),
) -> None:
    """Declares the options that belong to no command; `run` acts on them before and after the
    command.
    """


def run() -> None:
    """Run the program with the arguments of the process, and exit with its code."""
    gc.set_threshold(*GC_THRESHOLDS)
    # Without a handler, Python would print warnings and tracebacks between the lines of the screen
    logging.lastResort = None
    # Looking for plugins reads every installed package's metadata: 10 ms
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Numpy would start threads, 40 ms, for what is computed in one
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("stdin", "stdout", "stderr"):
        _prepare_stream(name)
    # Somebody is typing: an error means no suggestions
    if os.environ.get("_ZKCHAT_COMPLETE"):
        with suppress(Exception, SystemExit):
            app(prog_name="zkchat", standalone_mode=False)
        sys.exit(0)
    given = split_arguments(sys.argv[1:])
    if "--no-color" in given.global_options:
        os.environ["NO_COLOR"] = "1"
    code = run_command([*given.global_options, *with_command(given.words), *given.literal])
    # Skips the search for cycles at exit: 0.5 s with a provider's library loaded
    gc.freeze()
    sys.exit(code)


def _prepare_stream(name: str) -> None:
    """Let a standard stream, by its name in `sys`, be UTF-8, and a closed one (`>&-`) be empty."""
    if getattr(sys, name) is None:
        setattr(sys, name, open(os.devnull, "r+"))  # noqa: PTH123, SIM115
    stream = getattr(sys, name)
    if not hasattr(stream, "reconfigure"):
        return
    if name == "stdin":
        # Windows programs may write a byte order mark
        stream.reconfigure(encoding="utf-8-sig", errors="replace")
    else:
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def run_command(arguments: list[str]) -> int:
    """Run a command line and print its error, if it ends with one. Returns the exit code."""
    try:
        if "--verbose" in arguments and "--no-store" not in arguments:
            _start_log(arguments)
        for warning in environment_warnings(os.environ):
            print(f"zkchat: {warning}", file=sys.stderr)  # noqa: T201
        result = app(args=arguments, prog_name="zkchat", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as e:
        # Typer turns a broken pipe into an exit
        if not isinstance(e.__context__, BrokenPipeError):
            raise
        _detach_stdout()
        return OUTPUT_CLOSED
    except Exception as e:  # noqa: BLE001
        return _report(e, arguments)
    return result if isinstance(result, int) else 0


def _start_log(arguments: list[str]) -> None:
    # This imports pydantic, which --help must not load
    from zkchat_cli import logging_setup

    print(f"zkchat: the log is {logging_setup.start_logging(os.environ)}", file=sys.stderr)  # noqa: T201
    python = sys.version.split()[0]
    logging.getLogger(__name__).info(
        "zkchat %s, Python %s: %s", __version__, python, arguments[1:2]
    )


def _report(e: Exception, arguments: list[str]) -> int:
    """Print what ended a command. Returns the exit code."""
    if isinstance(e, CommandFailed):
        return _print_failure(e, arguments)
    if isinstance(e, ZkchatError):
        return _print_error(e, arguments)
    if isinstance(e, typer.Abort):
        # Ctrl-C or Ctrl-D at a question, which ends in the middle of a line
        print(file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    if isinstance(e, BrokenPipeError):
        _detach_stdout()
        return OUTPUT_CLOSED
    if getattr(e, "exit_code", None) == EXIT_CODES["usage"] and hasattr(e, "format_message"):
        return _print_usage_error(e, arguments)
    error = ZkchatError(
        f"unexpected {type(e).__name__}: {e}", "Run it again with --verbose to see where."
    )
    if isinstance(e, OSError) and e.errno in (errno.ENOSPC, errno.EDQUOT):
        _detach_stdout()
        error = ZkchatError(
            f"the result cannot be written: {reason(e)}", "Free some space, or write it elsewhere."
        )
    error.__cause__ = e
    return _print_error(error, arguments)


def _detach_stdout() -> None:
    """Discard what is still buffered and cannot be written, so that the interpreter does not report
    it at exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_usage_error(e: Any, arguments: list[str]) -> int:
    """Print what Typer's parser rejected, and for a group alone its help. Returns the exit code."""
    message = e.format_message()
    context = getattr(e, "ctx", None)
    if type(e).__name__ == "NoArgsIsHelpError":
        print(message, file=sys.stderr)  # noqa: T201
        return EXIT_CODES["usage"]
    if context and hasattr(e, "possibilities"):
        known = [*GLOBAL_OPTIONS, *ROOT_OPTIONS]
        for option in context.command.params:
            known += option.opts
        similar = get_close_matches(e.option_name, known, n=2)
        message = f"no such option {e.option_name}{_did_you_mean(similar)}"
    # The argument may be a key
    if "extra argument" in message:
        message = "too many arguments"
    path = context.command_path if context else "zkchat"
    problem = message[:1].lower() + message[1:].rstrip(".")
    return _print_error(UsageError(problem, f"See {path} --help"), arguments)


def _did_you_mean(names: Iterable[str]) -> str:
    similar = " or ".join(names)
    return f". Did you mean {similar}?" if similar else ""


def _print_error(error: ZkchatError, arguments: list[str]) -> int:
    return _print_failure(CommandFailed(error), arguments)


def _print_failure(failure: CommandFailed, arguments: list[str]) -> int:
    """Print an error that has not been printed; returns its exit code."""
    error = failure.error
    if failure.is_printed:
        return EXIT_CODES.get(error.code, 1)
    # Imported only for errors
    from zkchat_cli.terminal.screen import Screen

    if "--verbose" in arguments:
        traceback.print_exception(error.__cause__ or error, file=sys.stderr)
    hint = f"\n  {error.hint}" if error.hint else ""
    Screen.of().remark(f"zkchat: {error.message}{hint}")
    is_stream = "--stream-json" in arguments
    if (is_stream or "--json" in arguments) and not failure.is_streamed:
        document: dict[str, Any] = {"type": "error"} if is_stream else {}
        described: dict[str, Any] = error.to_json()
        if failure.partial:
            described["partial"] = failure.partial
        document |= {"error": described, **failure.document}
        print(json.dumps(document, ensure_ascii=False))  # noqa: T201
    return EXIT_CODES.get(error.code, 1)
