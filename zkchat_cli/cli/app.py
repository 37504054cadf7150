"""The root of the command line: finds commands in the registry `cli.commands`, and turns errors
into exit codes, here and nowhere else.

Commands are listed by the first line of their file's docstring and imported when they run, so that
`--help` costs little more than importing Typer.
"""

import errno
import gc
import json
import logging
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from itertools import pairwise, takewhile
from typing import Any

_handles_sigint = (
    signal.getsignal(signal.SIGINT) is signal.default_int_handler
    and threading.current_thread() is threading.main_thread()
)
# Ctrl-C during the imports ends the program like any other, without a traceback
if _handles_sigint:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import typer  # noqa: E402

from zkchat_cli import __version__  # noqa: E402
from zkchat_cli.cli import options  # noqa: E402
from zkchat_cli.cli.commands import COMMANDS  # noqa: E402
from zkchat_cli.errors import UsageError, ZkchatError, reason  # noqa: E402

if _handles_sigint:
    signal.signal(signal.SIGINT, signal.default_int_handler)

COMMAND_ORDER = (
    "chat ask context sessions vault verify semantic memory agent config keys mcp acp gui "
    "tokens doctor"
).split()
"""Most used first."""
EXIT_CODES = {
    "unexpected": 1,
    "usage": 2,
    "config": 2,
    "prompt_too_large": 2,
    "vault": 3,
    "index": 3,
    "store": 3,
    "provider": 4,
}
GC_THRESHOLDS = 100_000, 20, 50
"""Imports, turns and an index build free little: looking for cycles costs 30 ms of start-up and 5
ms of a turn.
"""
INTERRUPTED = 130
# As of a program ended by SIGPIPE, such as git or cat, when the reader of its output is gone
OUTPUT_CLOSED = 141
GLOBAL_OPTIONS = ("--no-color", "--verbose")
"""Options that every command takes: they are moved to the front, where the root declares them."""
ROOT_OPTIONS = ("--version", "--help", "-h", "--install-completion", "--show-completion")
"""Options of the root; any other option before a command belongs to the chat."""


class LazyCommandGroup(options.Group):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return COMMAND_ORDER

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in COMMAND_ORDER:
            return None
        command = typer.main.get_command(COMMANDS.load(cmd_name))
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS.summary_line(name)) for name in COMMAND_ORDER])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        words = list(takewhile(lambda arg: not arg.startswith("-"), args))
        if name not in COMMAND_ORDER:
            similar = [
                f"{group} {name}"
                for group in COMMAND_ORDER
                if name in getattr(self.get_command(ctx, group), "commands", ())
            ]
            # More words are a question
            similar = similar or get_close_matches(name, COMMAND_ORDER if len(words) < 3 else ())
            question = " ".join(words)
            hint = (
                f'To ask a question: zkchat ask "{question}"'
                if " " in question and not similar
                else "See zkchat --help"
            )
            if os.path.isdir(name):  # noqa: PTH112, RUF100
                hint = f"To open a folder: zkchat --vault {shlex.quote(name)}"
            raise UsageError(f"no such command '{name}'{_did_you_mean(map(repr, similar))}", hint)
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="zkchat",
    cls=LazyCommandGroup,
    help=(
        "Chat with your own notes, and check what every answer is based on. Without a command, "
        "it opens the chat."
    ),
    epilog="Start with: zkchat chat --demo",
    **options.CONVENTIONS,
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
    gc.set_threshold(*GC_THRESHOLDS)
    # Looking for plugins reads every installed package's metadata: 10 ms
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Numpy would start threads, 40 ms, for what is computed in one
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed (`>&-`): discard the output
            setattr(sys, name, open(os.devnull, "r+"))  # noqa: PTH123, RUF100, SIM115
        if hasattr(stream := getattr(sys, name), "reconfigure"):
            # Perhaps with a byte order mark, as Windows programs write
            reads = name == "stdin"
            stream.reconfigure(
                encoding="utf-8-sig" if reads else "utf-8",
                errors="replace" if reads else "backslashreplace",
            )
    # Somebody is typing: an error means no suggestions
    if os.environ.get("_ZKCHAT_COMPLETE"):
        with suppress(Exception, SystemExit):
            app(prog_name="zkchat", standalone_mode=False)
        sys.exit(0)
    arguments = sys.argv[1:]
    # After it, every word is an argument
    end = arguments.index("--") if "--" in arguments else len(arguments)
    global_options = [a for a in arguments[:end] if a in GLOBAL_OPTIONS]
    if "--no-color" in global_options:
        os.environ["NO_COLOR"] = "1"
    others = [a for a in arguments[:end] if a not in GLOBAL_OPTIONS]
    code = run_command([*global_options, *_with_command(others), *arguments[end:]])
    # Skips the search for cycles at exit: 0.5 s with a provider's library loaded
    gc.freeze()
    sys.exit(code)


def _with_command(arguments: list[str]) -> list[str]:
    """The command line with its command in front: options of a command may come before it (`zkchat
    -m MODEL ask …`); without one they are the chat's. Options of the root and the names of commands
    stay in front. `--resume` without an id becomes `--continue`.
    """
    # Typer has no options with an optional value
    arguments = [
        "--continue" if a == "--resume" and b.startswith("-") else a
        for a, b in pairwise([*arguments, "-"])
    ]
    if arguments and (not arguments[0].startswith("-") or arguments[0] in ROOT_OPTIONS):
        return arguments
    chat: Any = typer.main.get_command(COMMANDS.load("chat"))
    with_value = {
        name
        for option in chat.params
        if not getattr(option, "is_flag", False)
        for name in option.opts
    }
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        position += 2 if arguments[position] in with_value else 1
    leading = arguments[:position]
    rest = arguments[position:]
    return [*rest, *leading] if rest and rest[0] in COMMAND_ORDER else ["chat", *arguments]


def run_command(arguments: list[str]) -> int:
    try:
        if "--verbose" in arguments and "--no-store" not in arguments:
            from zkchat_cli import logging_setup  # imports pydantic, which --help must not

            print(f"zkchat: the log is {logging_setup.start_logging(os.environ)}", file=sys.stderr)  # noqa: T201
            logging.getLogger(__name__).info(
                "zkchat %s, Python %s: %s", __version__, sys.version.split()[0], arguments[1:2]
            )
        result = app(args=arguments, prog_name="zkchat", standalone_mode=False)
        sys.stdout.flush()
    except ZkchatError as e:
        return _print_error(e, arguments)
    except typer.Abort:
        # Ctrl-C or Ctrl-D at a question, which ends in the middle of a line
        print(file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except (BrokenPipeError, SystemExit) as e:
        # Typer turns a broken pipe into an exit
        if not isinstance(e.__context__ if isinstance(e, SystemExit) else e, BrokenPipeError):
            raise
        _detach_stdout()
        return OUTPUT_CLOSED
    except Exception as e:  # noqa: BLE001, RUF100
        if getattr(e, "exit_code", None) == 2 and hasattr(e, "format_message"):
            return _print_usage_error(e, arguments)
        error = ZkchatError(
            f"unexpected {type(e).__name__}: {e}", "Run it again with --verbose to see where."
        )
        if isinstance(e, OSError) and e.errno in (errno.ENOSPC, errno.EDQUOT):
            _detach_stdout()
            error = ZkchatError(
                f"the result cannot be written: {reason(e)}",
                "Free some space, or write it elsewhere.",
            )
        error.__cause__ = e
        return _print_error(error, arguments)
    return result if isinstance(result, int) else 0


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
        known = [
            *GLOBAL_OPTIONS,
            *ROOT_OPTIONS,
            *(name for option in context.command.params for name in option.opts),
        ]
        message = (
            "no such option "
            f"{e.option_name}{_did_you_mean(get_close_matches(e.option_name, known, n=2))}"
        )
    if "extra argument" in message:  # which may be a key
        message = "too many arguments"
    path = context.command_path if context else "zkchat"
    return _print_error(
        UsageError(message[:1].lower() + message[1:].rstrip("."), f"See {path} --help"), arguments
    )


def _did_you_mean(names: Iterable[str]) -> str:
    similar = " or ".join(names)
    return f". Did you mean {similar}?" if similar else ""


def _print_error(error: ZkchatError, arguments: list[str]) -> int:
    """Print an error that has not been reported; returns its exit code."""
    if error.reported:
        return EXIT_CODES.get(error.code, 1)
    from zkchat_cli.terminal.screen import Screen  # imported only for errors

    if "--verbose" in arguments:
        traceback.print_exception(error.__cause__ or error, file=sys.stderr)
    Screen.of().remark(f"zkchat: {error.message}" + (f"\n  {error.hint}" if error.hint else ""))
    if ("--json" in arguments or "--stream-json" in arguments) and not error.streamed:
        document: dict[str, Any] = {"type": "error"} if "--stream-json" in arguments else {}
        document["error"] = error.to_json() | ({"partial": error.partial} if error.partial else {})
        print(json.dumps(document, ensure_ascii=False))  # noqa: T201
    return EXIT_CODES.get(error.code, 1)
