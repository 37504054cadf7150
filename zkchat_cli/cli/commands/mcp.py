"""Serve the notes to other programs over the Model Context Protocol."""

import difflib
import json
import os
import re
import secrets
import signal
import sys
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import platformdirs
from typer import Argument, Context, Option

from zkchat_cli.cli.command import CommandContext, command, command_group, optional_package
from zkchat_cli.errors import ConfigError, UsageError, reason
from zkchat_cli.fileio import atomic_write, read_file

if TYPE_CHECKING:
    from zkchat_cli.config.loader import LoadedConfig

ORDER = 120
COMMAND = command_group("Serve the notes to other programs over the Model Context Protocol.")
TOKEN_VARIABLE = "ZKCHAT_MCP_TOKEN"
CLIENTS = ("claude-code", "codex", "cursor", "zed", "vscode")
NAME = "zkchat"
# Largest file that is read: Claude Code keeps the history of its projects in the file, too
MAX_BYTES = 50_000_000
_UNCHANGED = "Nothing was changed. --print shows what to add."
_COMMENTS = re.compile(
    r'"(?:[^"\\]|\\.)*+"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*\n|/\*.*?\*/)*[}\]])', re.DOTALL
)
"""Strings, comments, and commas after the last member: Zed's and VS Code's files may have them."""


class McpClient(NamedTuple):
    """A program: its name, its configuration file, the table of servers there, further fields of an
    entry, and the file for a skill.
    """

    title: str
    file: Path
    table: str
    entry_fields: dict[str, str]
    skill_file: Path


@command(
    COMMAND,
    "vault",
    "config_file",
    default=True,
    examples=[
        "zkchat mcp",
        "zkchat mcp install claude-code",
        "zkchat mcp --http 8080 --token-file tokens.toml",
    ],
)
def serve(
    ctx: CommandContext,
    invoked: Context,
    http: Annotated[
        int | None,
        Option(
            "--http",
            metavar="PORT",
            help="Serve on this port of 127.0.0.1 instead of standard input and output.",
        ),
    ] = None,
    unsafe: Annotated[
        bool,
        Option(
            "--unsafe", help="With tools that change notes; the client asks before each change."
        ),
    ] = False,
    token_file: Annotated[
        Path | None,
        Option(
            "--token-file",
            metavar="FILE",
            help="With --http: a token for each person, and what they may see and change.",
        ),
    ] = None,
) -> None:
    """Serve the notes to other programs over the Model Context Protocol.

    Programs such as Claude Code, Codex and Zed start it and use standard input and output. With
    --http it serves several clients, which need the token that it prints, or that of
    ZKCHAT_MCP_TOKEN, or one of --token-file. It needs `pip install 'zkchat[mcp]'`.
    """
    if invoked.invoked_subcommand is not None:
        return
    from zkchat_cli.logging_setup import log_to_stderr

    log_to_stderr()
    if token_file is not None:
        _serve_people(ctx, http, token_file, unsafe=unsafe)
        return
    with optional_package("the MCP server", "mcp"):
        # These imports load the SDK: more than a second that no other command needs
        from zkchat_cli.mcp import http_server, people, server, write_tools
    from zkchat_cli.memory.memory_paths import MemoryPaths
    from zkchat_cli.memory.project import memory_file_names
    from zkchat_cli.tools.served_tool import ServedVault

    with ctx.open_vault() as vault:
        unfinished = vault.journal.describe_unfinished()
        if unfinished is not None:
            ctx.screen.warn(unfinished)
        search = partial(_search_conversations, ctx.config, str(vault.root))
        notes = server.NoteServer(ServedVault(vault, search))
        if unsafe:
            names = memory_file_names(ctx.config.values.memory)
            memory_paths = MemoryPaths(vault.root, names, ctx.paths.agents_folder)
            write_tools.add_write_tools(notes, vault, memory_paths)
        if http is None:
            if sys.stdin.isatty():
                # The SDK would first wait for the line that it reads
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                ctx.screen.remark(
                    "Waiting for a program on standard input. `zkchat mcp install` lets "
                    "one start it. Ctrl-C ends it."
                )
            notes.run()
            return
        given = os.environ.get(TOKEN_VARIABLE)
        token = secrets.token_urlsafe(24)
        shown = f"the token of {TOKEN_VARIABLE}" if given else f"the token {token}"
        owner = people.Person(
            "owner", people.digest_token((given or token).encode()), requests_per_second=None
        )
        http_server.serve_http(
            lambda: [owner],
            lambda _: notes,
            http,
            lambda address: ctx.screen.remark(f"{address} with {shown}"),
        )


def _serve_people(ctx: CommandContext, port: int | None, token_file: Path, *, unsafe: bool) -> None:
    """Serve the people of a token file over HTTP."""
    if port is None:
        raise UsageError("--token-file needs --http", "Add --http PORT; 0 takes a free one.")
    if unsafe:
        raise UsageError(
            "--unsafe and --token-file cannot be combined",
            "The token file says who may write: write = true.",
        )
    if os.environ.get(TOKEN_VARIABLE):
        raise UsageError(
            f"{TOKEN_VARIABLE} and --token-file cannot be combined",
            f"The token file has the tokens. Unset {TOKEN_VARIABLE}.",
        )
    with optional_package("the MCP server", "mcp"):
        # See serve
        from zkchat_cli.mcp import http_server
        from zkchat_cli.mcp.people import PeopleFile
        from zkchat_cli.mcp.shared_vault import SharedVault
    tokens = PeopleFile(token_file)
    with ctx.open_vault() as vault:
        for person in tokens.people():
            for folder in (*person.view.folders, *person.view.excluded):
                if not (vault.root / folder).exists():
                    ctx.screen.warn(f"{person.name}: the vault has no {folder}")
    names = ", ".join(person.name for person in tokens.people())
    with SharedVault(ctx.config) as shared:
        http_server.serve_http(
            tokens.people,
            shared.server_of,
            port,
            lambda address: ctx.screen.remark(f"{address} with the tokens of {names}"),
        )


def _search_conversations(
    loaded: "LoadedConfig", vault: str, query: str, limit: int
) -> list[dict[str, Any]]:
    """The messages of the stored conversations with a vault that have the words. The store is
    opened for each search: it may not exist yet when the server starts. Calls run at the same time
    in several threads, and each has its own store.
    """
    from zkchat_cli.app.stores import open_configured
    from zkchat_cli.views.stored_items import search_result_document

    with closing(open_configured(loaded, to_read=True)) as store:
        found = store.search(vault, query, limit=limit, tool_results=False)
    return [search_result_document(each, query) for each in found]


@command(
    COMMAND,
    "vault",
    "config_file",
    examples=["zkchat mcp install codex --vault ~/notes", "zkchat mcp install zed --print"],
)
def install(
    ctx: CommandContext,
    client: Annotated[
        str,
        Argument(
            metavar="CLIENT",
            help=f"{', '.join(CLIENTS[:-1])} or {CLIENTS[-1]}.",
            autocompletion=lambda: list(CLIENTS),
        ),
    ],
    print_only: Annotated[
        bool, Option("--print", help="Print what to add to its configuration, and change nothing.")
    ] = False,
    skill: Annotated[
        bool,
        Option(
            "--skill", help="Write a skill, too, that tells agents when to search, cite and verify."
        ),
    ] = False,
) -> None:
    """Add the server to the configuration of a program, with a backup."""
    if client not in CLIENTS:
        raise UsageError(f"there is no client {client}", f"The clients are {', '.join(CLIENTS)}.")
    target = _known_client(client)
    # Raises VaultError for a folder that the server could not open
    with ctx.open_vault() as vault:
        # -P: no modules from the folder the client works in
        arguments = ["-P", "-m", "zkchat_cli", "mcp", "--vault", str(vault.root)]
    if ctx.shared["config_file"]:
        arguments += ["--config", str(ctx.shared["config_file"].resolve())]
    entry: dict[str, object] = {**target.entry_fields, "command": sys.executable, "args": arguments}
    old = "" if print_only else _read_text(target.file)
    files = {target.file: _text_with_server(target.file, target.table, entry, old)}
    if skill:
        # It reads front matter, which no other command here needs
        from zkchat_cli.mcp.skill_file import read_skill_file

        files[target.skill_file] = read_skill_file().text
    for file, text in files.items():
        if print_only:
            ctx.screen.print(text.rstrip())
            ctx.screen.remark(f"{target.title} reads it from {file}")
        else:
            _change_file(ctx, file, text)
    if not print_only:
        ctx.screen.remark(f"Restart {target.title} to use it.")


def _change_file(ctx: CommandContext, file: Path, text: str) -> None:
    """Write a file with a backup of the old one, and show what changed."""
    before = _read_text(file)
    if before == text:
        ctx.screen.remark(f"{file} has it already: nothing was changed.")
        return
    backup = _write_with_backup(file, text)
    diff = difflib.unified_diff(
        before.splitlines(), text.splitlines(), "before", "after", lineterm=""
    )
    ctx.screen.print("\n".join(diff))
    if backup:
        ctx.screen.remark(f"{file} was changed; the old one is {backup}")
    else:
        ctx.screen.remark(f"{file} was written")


def _known_client(name: str) -> McpClient:
    env = os.environ
    home = Path.home()
    skill = Path("skills", NAME, "SKILL.md")
    shared_skill = home / ".agents" / skill
    if os.name == "nt":
        zed = Path(env["APPDATA"]) / "Zed"
    else:
        zed = Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "zed"
    code = platformdirs.user_config_path("Code", appauthor=False, roaming=True)
    claude_home = Path(env.get("CLAUDE_CONFIG_DIR") or home)
    claude_skill = (claude_home if "CLAUDE_CONFIG_DIR" in env else home / ".claude") / skill
    codex_home = Path(env.get("CODEX_HOME") or home / ".codex")
    clients = {
        "claude-code": McpClient(
            "Claude Code",
            claude_home / ".claude.json",
            "mcpServers",
            {"type": "stdio"},
            claude_skill,
        ),
        "codex": McpClient("Codex", codex_home / "config.toml", "mcp_servers", {}, shared_skill),
        "cursor": McpClient(
            "Cursor", home / ".cursor" / "mcp.json", "mcpServers", {}, home / ".cursor" / skill
        ),
        "zed": McpClient("Zed", zed / "settings.json", "context_servers", {}, shared_skill),
        "vscode": McpClient(
            "VS Code", code / "User" / "mcp.json", "servers", {"type": "stdio"}, shared_skill
        ),
    }
    return clients[name]


def _read_text(file: Path) -> str:
    """The text of a file that should be changed; empty if the file does not exist. Raises
    ConfigError.
    """
    try:
        return read_file(file, MAX_BYTES).decode("utf-8-sig") if file.exists() else ""
    except (OSError, ValueError) as e:
        raise ConfigError(f"{file} cannot be changed: {reason(e)}", _UNCHANGED) from e


def _text_with_server(file: Path, table: str, entry: dict[str, object], text: str) -> str:
    """The text of a client's configuration with the server added; comments stay. Raises ConfigError
    for a text that is not understood.
    """
    add_server = _toml_with_server if file.suffix == ".toml" else _json_with_server
    try:
        return add_server(text, table, entry)
    except (TypeError, ValueError) as e:
        raise ConfigError(f"{file} cannot be changed: {reason(e)}", _UNCHANGED) from e


def _toml_with_server(text: str, table: str, entry: dict[str, object]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    if _servers(document, table).get(NAME) == entry:
        return text
    servers: Any = document.setdefault(table, tomlkit.table(is_super_table=True))
    servers[NAME] = entry
    return tomlkit.dumps(document)


def _json_with_server(text: str, table: str, entry: dict[str, object]) -> str:
    data = _COMMENTS.sub(_blank_unless_string, text)
    document: Any = json.loads(data) if data.strip() else {}
    if _servers(document, table).get(NAME) == entry:
        return text
    if data == text:
        document.setdefault(table, {})[NAME] = entry
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if table in document:
        raise ValueError(f"it has comments, and {table} already")
    begin = data.index("{") + 1
    added = json.dumps({NAME: entry}, ensure_ascii=False)
    return f'{text[:begin]}\n  "{table}": {added},{text[begin:]}'


def _blank_unless_string(found: re.Match[str]) -> str:
    """Blanks instead of a comment or a last comma; a string stays."""
    return found[0] if found[0].startswith('"') else " " * len(found[0])


def _servers(document: Any, table: str) -> Any:
    """The table of servers in a configuration; empty if there is none. Raises TypeError if
    something else is in its place.
    """
    servers = document.get(table, {}) if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        raise TypeError(f"it has no table {table} of servers")
    return servers


def _write_with_backup(file: Path, text: str) -> Path | None:
    """Replace a file in one step; returns the copy of the old one, named by the time, if there was
    one. Raises ConfigError.
    """
    try:
        backup = None
        if file.exists():
            backup = file.with_name(f"{file.name}.{datetime.now():%Y-%m-%dT%H%M%S}.bak")
            atomic_write(backup, read_file(file, MAX_BYTES), private=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(file, text)
        return backup
    except OSError as e:
        raise ConfigError(
            f"{file} cannot be written: {reason(e)}",
            "Check its permissions. --print shows what to add.",
        ) from e
