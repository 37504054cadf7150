"""What a shell offers when somebody presses Tab after `zkchat …`: commands, options, and what they may be given.

typer's own completion imports every command to answer, which takes half a second. So what it knows is kept in a file of the cache, made
anew when the program is another, and an answer costs little more than Python's start. The scripts and the variables they set are typer's.

A Tab must never print an error or run anything: what goes wrong is no answer, and only harmless characters get out, as zsh evaluates them.
"""

import json
import os
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from zkchat_cli import __version__
from zkchat_cli.store.database import complete_conversation_id

VARIABLE = "_ZKCHAT_COMPLETE"
FRESH_FOR = 600.0
"""Seconds for which a server's list of models is taken for current; asking again takes as long as the server does."""
ANYWHERE = (("--no-color", "No colours."), ("--verbose", "Write a log file."))
_BY_METAVAR = {
    **{"[ID]": "conversation", "ID": "conversation", "[ID]...": "conversation", "PROVIDER[/NAME]": "model", "KEY": "key", "S": "strategy"},
    **{"PATH": "folder", "FILE": "file", "[FILE|-]": "file"},
}
"""What a parameter takes, by how its help calls that."""
_FIXED = ("F", "E", "PROVIDER")
"""Formats, encodings, providers that take a key: they change only with the program, and are kept with the commands."""
_HARMFUL = re.compile(r"[^\w .,/@+=_%~’-]")
_VALUE = re.compile(r"[\w./@+=:~%-]+")

_PACKAGE = Path(__file__).parent.parent

Offer = tuple[str, str]
"""A value, and in a few words what it is."""
Tree = dict[str, Any]
"""A command: `commands` in it by name, each with `help`; `options` with `names`, `help`, `takes` and `values`; `arguments`, the kinds of
values in their order, of which the last may come again."""


class Unknown(Exception):
    """Only typer knows what to offer here."""


def answer(env: Mapping[str, str], command: Callable[[], Any], models: Callable[[], Iterable[str]]) -> str | None:
    """What to print for the shell; None where typer has to answer. `command` gives typer's command, `models` asks the servers."""
    way = env.get(VARIABLE, "")
    shell = way.removeprefix("complete_")
    if way == shell or shell not in ("bash", "zsh", "fish"):
        return None
    try:
        words, begun = (_of_bash if shell == "bash" else _of_line)(env)
        home = _Home.of(env)
        offers = _offers(home.tree(command), words, begun, lambda kind: _values(kind, begun, home, models))
        return _said(shell, offers, begun)
    except Unknown:
        return None
    except Exception:  # noqa: BLE001  whatever it is, somebody is in the middle of typing
        return ""


# what the shell says, and what it is told


def _of_bash(env: Mapping[str, str]) -> tuple[list[str], str]:
    """The words before the one that is being typed, and that. Bash ends words at `=` and `:` too."""
    given = env["COMP_WORDS"]
    words = given.split("\n") if "\n" in given else given.split()
    at = int(env["COMP_CWORD"])
    words = [*words[: at + 1], *[""] * (at + 1 - len(words))]
    joined: list[str] = []
    for number, word in enumerate(words):
        last = number == len(words) - 1
        if word == "=" and joined and joined[-1].startswith("--"):
            if last:
                joined.append("")
        elif joined and number > 1 and (word == ":" or words[number - 1] == ":"):
            joined[-1] += word
        else:
            joined.append(word)
    return [_unquoted(word) for word in joined[1:-1]], _unquoted(joined[-1])


def _of_line(env: Mapping[str, str]) -> tuple[list[str], str]:
    line = env.get("_TYPER_COMPLETE_ARGS", "")
    try:
        words = shlex.split(line)
    except ValueError:  # an open quotation mark
        words = [_unquoted(word) for word in line.split()]
    return (words[1:], "") if not line or line[-1].isspace() else (words[1:-1], words[-1] if len(words) > 1 else "")


def _unquoted(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word.strip("\"'"))


def _said(shell: str, offers: Iterable[Offer] | str, begun: str) -> str:
    """`offers` is "file" or "folder" where the shell completes by itself."""
    if isinstance(offers, str):
        return {"zsh": "_files -/" if offers == "folder" else "_files"}.get(shell, "")
    fit = [(value, _plain(about)) for value, about in offers if value.startswith(begun) and _VALUE.fullmatch(value)]
    if shell == "fish":
        return "\n".join(f"{value}\t{about}".strip() for value, about in fit)
    if shell == "zsh":
        listed = "\n".join(f'"{value.replace(":", chr(92) * 2 + ":")}":"{about}"' if about else f'"{value}"' for value, about in fit)
        return f"_arguments '*: :(({listed}))'" if fit else ""
    cut = begun.rfind(":") + 1
    return "\n".join(value[cut:] for value, _ in fit)


def _plain(about: str) -> str:
    """Words of whatever origin, of which nothing means anything to a shell."""
    return " ".join(_HARMFUL.sub(" ", about.replace("'", "’")).split())


# what there is to offer


def _offers(tree: Tree, words: Iterable[str], begun: str, values: Callable[[Any], Iterable[Offer] | str]) -> Iterable[Offer] | str:
    at, number, wants, ended = tree, 0, None, False
    for word in words:
        if wants is not None:
            wants = None
        elif word == "--" and not ended:
            ended = True
        elif word.startswith("-") and not ended and len(word) > 1:
            option = _option(at, word.partition("=")[0])
            wants = option if option is not None and option["takes"] and "=" not in word else None
        elif at["commands"]:
            if word not in at["commands"]:
                return []
            at, number = at["commands"][word]["tree"], 0
        else:
            number += 1
    if wants is not None:
        return values(wants["values"])
    if begun.startswith("-") and not ended:
        return [*((name, option["help"]) for option in at["options"] for name in option["names"] if name.startswith("--")), *ANYWHERE]
    if at["commands"]:
        return [(name, command["help"]) for name, command in at["commands"].items()]
    kinds = at["arguments"]
    if not kinds or (number >= len(kinds) and not kinds[-1]["many"]):
        return []
    return values(kinds[min(number, len(kinds) - 1)]["values"])


def _option(tree: Tree, name: str) -> dict[str, Any] | None:
    return next((option for option in tree["options"] if name in option["names"]), None)


def _values(kind: Any, begun: str, home: "_Home", models: Callable[[], Iterable[str]]) -> Iterable[Offer] | str:
    if isinstance(kind, list):
        return [(value, about) for value, about in kind]
    if kind == "conversation":
        return complete_conversation_id(home.store, begun)
    if kind == "model":
        return [(name, "") for name in home.models(models)]
    if kind == "agent":
        return [(name, "") for name in home.agents()]
    if kind == "typer":
        raise Unknown
    return kind or []


class _Home:
    """Where things are kept between two Tabs; `config.places` says the same, and takes pydantic to say it."""

    def __init__(self, cache: Path, data: Path, config: Path) -> None:
        self._cache = cache
        self._config = config
        self.store = data / "conversations.db"

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "_Home":
        if root := env.get("ZKCHAT_HOME"):
            folder = Path(root).expanduser()
            return cls(folder / "cache", folder / "data", folder / "config")
        import platformdirs

        return cls(platformdirs.user_cache_path("zkchat"), platformdirs.user_data_path("zkchat"), platformdirs.user_config_path("zkchat"))

    def tree(self, command: Callable[[], Any]) -> Tree:
        """All commands, from the file if it is of this very program."""
        newest = max(
            (file.stat().st_mtime_ns for file in (_PACKAGE / "config" / "schema.py", *(_PACKAGE / "cli" / "commands").glob("*.py"))),
            default=0,
        )
        stamp = f"{__version__} {newest}"
        kept = self._read("completion.json")
        if kept.get("stamp") != stamp or "tree" not in kept:
            kept = {"stamp": stamp, "tree": _grown(command())}
            self._write("completion.json", kept)
        tree: Tree = kept["tree"]
        return tree

    def agents(self) -> list[str]:
        """The user's, and the built-in ones, by their files; `agents.loading` says the same."""
        own = (self._config / "agents").glob("*.toml")
        built_in = (_PACKAGE / "agents" / "builtin").glob("[!_]*.py")
        return sorted({file.stem for file in (*own, *built_in)})

    def models(self, ask: Callable[[], Iterable[str]]) -> list[str]:
        kept = self._read("models.json")
        if not 0 <= time.time() - kept.get("at", 0) < FRESH_FOR:
            kept = {"at": time.time(), "names": [*ask()]}
            self._write("models.json", kept)
        return [str(name) for name in kept["names"]]

    def _read(self, name: str) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            found = json.loads((self._cache / name).read_bytes())
            if isinstance(found, dict):
                return found
        return {}

    def _write(self, name: str, document: dict[str, Any]) -> None:
        with suppress(OSError):
            self._cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            aside = self._cache / f"{name}.{os.getpid()}"
            aside.write_text(json.dumps(document))
            aside.replace(self._cache / name)


# what typer knows


def _grown(command: Any, group: str = "") -> Tree:
    """A command of typer's in a `group`, with all below it, as a Tree."""
    context = command.make_context(command.name, [], resilient_parsing=True)
    below = (
        {name: command.get_command(context, name) for name in command.list_commands(context)} if hasattr(command, "list_commands") else {}
    )
    parameters = command.get_params(context)
    return {
        "commands": {
            name: {"help": each.get_short_help_str(60), "tree": _grown(each, group or name)}
            for name, each in below.items()
            if each and not each.hidden
        },
        "options": [
            {
                "names": [*p.opts, *p.secondary_opts],
                "help": p.help or "",
                "takes": not p.is_flag and not p.count,
                "values": _kind(p, context, group),
            }
            for p in parameters
            if p.param_type_name == "option" and not p.hidden
        ],
        "arguments": [{"values": _kind(p, context, group), "many": p.nargs == -1} for p in parameters if p.param_type_name == "argument"],
    }


def _kind(parameter: Any, context: Any, group: str) -> Any:
    """What a parameter takes: a kind's name, all values where they are always the same, or None."""
    kind = _BY_METAVAR.get(parameter.metavar or "")
    if kind == "key":
        return list(_keys(group)) if group in ("config", "agent") else None  # a memory has keys as well
    if kind == "strategy":
        return _strategies()
    if kind is not None:
        return kind
    if getattr(parameter, "_custom_shell_complete", None) is not None:
        if parameter.metavar == "NAME":
            return "agent"
        always = parameter.metavar in _FIXED
        return [(item.value, item.help or "") for item in parameter.shell_complete(context, "")] if always else "typer"
    return None


def _keys(group: str) -> Iterator[Offer]:
    from zkchat_cli.agents.profile import AgentProfile
    from zkchat_cli.app import factory  # only when the tree is made
    from zkchat_cli.config import loader

    schema = AgentProfile if group == "agent" else factory.settings_schema()
    for key in loader.keys(schema):
        yield key, loader.describe(key, schema)


def _strategies() -> list[Offer]:
    from zkchat_cli.context import strategies  # as above

    return [(name, "") for name in strategies.names()]
