"""The command line's root: finds commands in the `cli` drawer, and turns errors into exit codes, here and only here.

Commands are listed by the first line of their file's docstring and imported when they run, so that `--help` costs little more than
importing typer.
"""

import errno
import gc
import json
import logging
import os
import signal
import sys
import threading
import traceback
from difflib import get_close_matches
from itertools import zip_longest
from pathlib import Path
from typing import Any

_loading = signal.getsignal(signal.SIGINT) is signal.default_int_handler and threading.current_thread() is threading.main_thread()
if _loading:  # a Ctrl-C in the first tenths of a second ends the program as it ends any other, and not with a traceback of imports
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import typer  # noqa: E402

from zkchat_cli import __version__, registry  # noqa: E402
from zkchat_cli.cli import commands, help_format  # noqa: E402
from zkchat_cli.cli.command import MOST_USED_FIRST  # noqa: E402
from zkchat_cli.errors import ZkchatError, reason  # noqa: E402

if _loading:
    signal.signal(signal.SIGINT, signal.default_int_handler)

EXIT_CODES = {"unexpected": 1, "usage": 2, "config": 2, "prompt_too_large": 2, "vault": 3, "index": 3, "store": 3, "provider": 4}
INTERRUPTED = 130
CLOSED = 141
"""Who read the output has gone: what a shell sees of a program that SIGPIPE ended, as git and cat are."""
ANYWHERE = ("--no-color", "--verbose")
"""Options that every command understands: they are moved to the front, where the root declares them once for all."""


class LazyCommandGroup(help_format.Group):
    """A group whose commands are the files of a drawer."""

    def get_params(self, ctx: Any) -> Any:
        return accept_dashes_in_values(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  click's signature
        order = {name: i for i, name in enumerate(MOST_USED_FIRST)}
        return sorted(registry.names(commands), key=lambda name: (order.get(name, len(order)), name))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  as above
        if cmd_name not in registry.names(commands):
            return None
        command: Any = help_format.fitted(typer.main.get_command(registry.load(commands, cmd_name, "COMMAND")))
        command.name = cmd_name
        parameters = command.get_params
        command.get_params = lambda ctx: accept_dashes_in_values(parameters(ctx))
        return command

    def label(self, ctx: Any, name: str) -> str:  # noqa: ARG002  as above
        return registry.summary_line(commands, name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = " or ".join(f"'{name}'" for name in self._near(ctx, args[0]))
            raise _Usage(f"no such command '{args[0]}'" + (f". Did you mean {near}?" if near else ""), "See zkchat --help")
        return super().resolve_command(ctx, args)

    def _near(self, ctx: Any, name: str) -> list[str]:
        """What somebody may have meant: a command of that name in one of the groups, or one whose name is like it."""
        groups = {group: self.get_command(ctx, group) for group in self.list_commands(ctx)}
        inside = [f"{group} {name}" for group, command in groups.items() if name in getattr(command, "commands", ())]
        return inside or get_close_matches(name, groups)


class VerbatimParam:
    """What makes a value of what stands on the command line, where that is text, a path, or left out; all else is left to typer.

    typer (where it works so: since 0.29) loads pydantic for each of them, and the chat's prompt would wait 60 ms for it.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        kind, declared = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        if param.nargs == 1 and not param.multiple and declared.parser is None:
            if value is None or (kind is str and isinstance(value, str)):
                return value
            if kind is Path and isinstance(value, str) and not (declared.exists or declared.resolve_path or declared.writable):
                return Path(value)
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def accept_dashes_in_values(parameters: Any) -> Any:
    for parameter in parameters:
        if hasattr(parameter, "_runtime_param"):
            parameter._runtime_param = VerbatimParam()
    return parameters


app = typer.Typer(
    name="zkchat",
    cls=LazyCommandGroup,
    help="A chat with your own notes, in which you can check what every answer rests on.",
    epilog="Start with: zkchat chat --demo",
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"zkchat {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version and leave."),
    no_color: bool = typer.Option(False, "--no-color", help="No colours (as NO_COLOR). May stand anywhere."),
    verbose: bool = typer.Option(False, "--verbose", help="Write a log file and show where an error comes from. May stand anywhere."),
) -> None:
    """Declares the options that belong to no command; what they do is done before and after the command, in `run`."""


def run() -> None:
    """The program: `zkchat` and `python -m zkchat_cli`."""
    gc.set_threshold(50_000, 20, 50)  # imports and an index build allocate much and drop little: looking for cycles costs 15 ms of start-up
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for plugins reads every installed package's metadata: 10 ms
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed (`>&-`): what is written to it goes nowhere
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace", newline=None)  # as Windows programs write, too
    if shell_completion := os.environ.get("_ZKCHAT_COMPLETE"):
        _complete(shell_completion)
    arguments = sys.argv[1:]
    border = arguments.index("--") if "--" in arguments else len(arguments)
    if "--no-color" in arguments[:border]:
        os.environ["NO_COLOR"] = "1"
    everywhere = [a for a in arguments[:border] if a in ANYWHERE]
    rest = [a for i, a in enumerate(arguments) if i >= border or a not in ANYWHERE]
    if "--verbose" in everywhere:
        _log_to_file(rest)
    if rest[:1] in (["--show-completion"], ["--install-completion"]) and len(rest) > 1:
        os.environ["_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"] = "1"  # typer takes a shell's name only where it does not look for one
    if not rest and _is_first_start():
        rest = ["chat"]
    code = _guarded(everywhere + _with_resume(rest))
    gc.freeze()  # at its end the interpreter looks for cycles among all that was imported: 0.5 s with a provider's library
    sys.exit(code)


def _complete(way: str) -> None:
    """Answer a shell that asks what may come next, and leave; what only typer can answer (its own scripts, say) goes on to it."""
    from zkchat_cli.cli.command import models
    from zkchat_cli.terminal import shell  # only for a Tab

    said = shell.answer(os.environ, lambda: typer.main.get_command(app), models)
    if said is None:
        return
    try:
        print(said, end="\n" if said else "")  # noqa: T201
        sys.stdout.flush()
    except BrokenPipeError:
        sys.exit(_closed())
    nothing_for_fish = way == "complete_fish" and os.environ.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args" and not said
    sys.exit(int(nothing_for_fish))


def _is_first_start() -> bool:
    """Whether somebody who has no settings yet called the program by its name alone, at a terminal: then it begins by itself."""
    if sys.stdin is None or not sys.stdin.isatty() or not sys.stdout.isatty():
        return False
    from zkchat_cli.terminal import onboarding  # loads pydantic: not on the path of --help

    try:
        return onboarding.wanted(os.environ, Path.cwd()) is not None
    except (ZkchatError, OSError):
        return False  # the help is the better answer, and a command says what is wrong


def _log_to_file(arguments: list[str]) -> None:
    """Log what happens, and say where; who keeps nothing on disk has no log either."""
    if "--no-store" in arguments:
        print("zkchat: no log is written with --no-store", file=sys.stderr)  # noqa: T201
        return
    from zkchat_cli import __version__, logging_setup  # loads pydantic: not on the path of --help

    try:
        file = logging_setup.start_logging(os.environ)
    except ZkchatError as e:
        print(f"zkchat: {e.message}", file=sys.stderr)  # noqa: T201
        return
    print(f"zkchat: the log is {file}", file=sys.stderr)  # noqa: T201
    logging.getLogger(__name__).info("zkchat %s, Python %s: %s", __version__, sys.version.split()[0], arguments[:1])


def _with_resume(arguments: list[str]) -> list[str]:
    """`--resume` without an id is `--continue`; typer has no options whose value may be left out."""
    return [
        "--continue" if a == "--resume" and (following is None or following.startswith("-")) else a
        for a, following in zip_longest(arguments, arguments[1:])
    ]


def _guarded(arguments: list[str]) -> int:
    try:
        outcome = app(args=arguments, prog_name="zkchat", standalone_mode=False)
        sys.stdout.flush()
    except ZkchatError as e:
        return _fail(e, arguments)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        return _closed()
    except SystemExit as e:
        if isinstance(e.__context__, BrokenPipeError):  # typer ends so, as if something unexpected had happened
            return _closed()
        raise
    except OSError as e:
        return _fail(_as_full(e), arguments)
    except Exception as e:  # noqa: BLE001  the last resort: a clear line and an exit code instead of a traceback
        if _is_usage_error(e):
            return _fail(_as_usage(e), arguments)
        return _fail(_as_unexpected(e), arguments)
    return outcome if isinstance(outcome, int) else 0


def _closed() -> int:
    """The reader has gone (`zkchat ask … | head -1`): nothing is wrong, and the interpreter must not complain at exit either."""
    if sys.__stdout__ is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())
    return CLOSED


def _as_unexpected(e: Exception) -> ZkchatError:
    if isinstance(e, MemoryError):
        error = ZkchatError("there is not enough memory for this", "Close other programs, or give it less at a time.")
    else:
        error = ZkchatError(f"unexpected {type(e).__name__}: {e}", "Run it again with --verbose to see where.")
    error.__cause__ = e
    return error


def _as_full(e: OSError) -> ZkchatError:
    """What stores and files is caught where it is done: here a full disk is the one that standard output goes to (`… > FILE`)."""
    if e.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return _as_unexpected(e)
    error = ZkchatError(f"the output cannot be written: {reason(e)}", "Free some space, or send it elsewhere.")
    error.__cause__ = e
    return error


def _is_usage_error(e: Exception) -> bool:
    """Whether typer's own parser refused the command line (its exceptions moved between click and typer over versions)."""
    return getattr(e, "exit_code", None) == 2 and hasattr(e, "format_message")


def _as_usage(e: Any) -> ZkchatError:
    message = e.format_message()
    if not message or type(e).__name__ == "NoArgsIsHelpError":
        return _Help(e.ctx.get_help() if e.ctx else "")
    path = e.ctx.command_path if getattr(e, "ctx", None) else "zkchat"
    return _Usage(message[0].lower() + message[1:].rstrip("."), f"See {path} --help")


class _Usage(ZkchatError):
    code = "usage"


class _Help(_Usage):
    """A command group called without a command: its help is the answer."""


def _fail(error: ZkchatError, arguments: list[str]) -> int:
    if error.told:
        return EXIT_CODES.get(error.code, 1)
    if isinstance(error, _Help):
        print(error.message, file=sys.stderr)  # noqa: T201
        return EXIT_CODES["usage"]
    from zkchat_cli.terminal.theme import to_ascii
    from zkchat_cli.text.sanitize import sanitize  # only when something went wrong: not on the path of --help

    if "--verbose" in arguments:
        traceback.print_exception(error.__cause__ or error, file=sys.stderr)
    told = f"zkchat: {error.message}" + (f"\n  {error.hint}" if error.hint else "")
    print(sanitize(to_ascii(told) if error.in_ascii else told), file=sys.stderr)  # noqa: T201
    if "--json" in arguments or "--stream-json" in arguments:
        document: dict[str, object] = {"code": error.code, "message": error.message, "hint": error.hint or None}
        if error.partial:
            document["partial"] = error.partial
        print(json.dumps({"error": document}, ensure_ascii=False))  # noqa: T201
    return EXIT_CODES.get(error.code, 1)
