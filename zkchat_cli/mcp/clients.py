"""The configuration of programs that start `zkchat mcp`: where each keeps it, and how a server is added to it.

JSON files may have comments (Zed's and VS Code's do): an entry is then written into the text, and everything else stays as it is.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from zkchat_cli.errors import ConfigError, reason
from zkchat_cli.fileio import atomic_write, read_file

NAME = "zkchat"
SKILL_FILE = Path(__file__).with_name("SKILL.md")
MAX_BYTES = 50_000_000  # largest file that is read: Claude Code keeps the history of its projects in the file, too
UNCHANGED = "Nothing was changed. --print shows what to add."
_COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*+"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*\n|/\*.*?\*/)*[}\]])', re.DOTALL)
"""Strings, comments, and commas after the last member."""


class McpClient(NamedTuple):
    """A program: its name, its configuration file, the table of servers there, further fields of an entry, and the file for a skill."""

    title: str
    file: Path
    table: str
    entry_fields: Mapping[str, object]
    skill_file: Path


def known_clients(env: Mapping[str, str], home: Path) -> dict[str, McpClient]:
    """The clients by the names that `zkchat mcp install` takes."""
    import platformdirs

    skill = Path("skills", NAME, "SKILL.md")
    shared_skill = home / ".agents" / skill
    zed = Path(env["APPDATA"]) / "Zed" if os.name == "nt" else Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "zed"
    code = platformdirs.user_config_path("Code", appauthor=False, roaming=True)
    claude_home = Path(env.get("CLAUDE_CONFIG_DIR") or home)
    claude_skill = (claude_home if "CLAUDE_CONFIG_DIR" in env else home / ".claude") / skill
    codex_home = Path(env.get("CODEX_HOME") or home / ".codex")
    return {
        "claude-code": McpClient("Claude Code", claude_home / ".claude.json", "mcpServers", {"type": "stdio"}, claude_skill),
        "codex": McpClient("Codex", codex_home / "config.toml", "mcp_servers", {}, shared_skill),
        "cursor": McpClient("Cursor", home / ".cursor" / "mcp.json", "mcpServers", {}, home / ".cursor" / skill),
        "zed": McpClient("Zed", zed / "settings.json", "context_servers", {}, shared_skill),
        "vscode": McpClient("VS Code", code / "User" / "mcp.json", "servers", {"type": "stdio"}, shared_skill),
    }


def read_text(file: Path) -> str:
    """The text of a file that is to be changed, empty if there is none. Raises ConfigError."""
    try:
        return read_file(file, MAX_BYTES).decode("utf-8-sig") if file.exists() else ""
    except (OSError, ValueError) as e:
        raise ConfigError(f"{file} cannot be changed: {reason(e)}", UNCHANGED) from e


def text_with_server(client: McpClient, command: list[str], text: str = "") -> str:
    """The text of a client's configuration with the server added. Raises ConfigError for a text that is not understood."""
    entry = {**client.entry_fields, "command": command[0], "args": command[1:]}
    try:
        if client.file.suffix != ".toml":
            return _add_to_json(text, client.table, entry)
        import tomlkit

        document: Any = tomlkit.parse(text)
        servers = document.setdefault(client.table, tomlkit.table(is_super_table=True))
        if _find_entry(servers, client.table) != entry:
            servers[NAME] = entry
        return tomlkit.dumps(document)
    except ValueError as e:
        raise ConfigError(f"{client.file} cannot be changed: {reason(e)}", UNCHANGED) from e


def write_with_backup(file: Path, text: str, now: str) -> Path | None:
    """Replace a file in one step; returns the copy of the old one, named by the time, if there was one. Raises ConfigError."""
    try:
        backup = file.with_name(f"{file.name}.{now[:19].replace(':', '')}.bak") if file.exists() else None
        if backup:
            atomic_write(backup, read_file(file, MAX_BYTES), private=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(file, text)
        return backup
    except OSError as e:
        raise ConfigError(f"{file} cannot be written: {reason(e)}", "Check its permissions. --print shows what to add.") from e


def _add_to_json(text: str, table: str, entry: Mapping[str, object]) -> str:
    """The text with the entry in its table of servers; comments stay. Raises ValueError for a text that is not a JSON object."""
    data = _COMMENTS.sub(lambda found: found[0] if found[0][0] == '"' else " " * len(found[0]), text)
    document: Any = json.loads(data) if data.strip() else {}
    servers: Any = document.setdefault(table, {}) if isinstance(document, dict) else None
    old = _find_entry(servers, table)
    if old == entry:
        return text
    if data == text:
        servers[NAME] = entry
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    written, in_table = json.dumps(entry, ensure_ascii=False), _find_value(data, table)
    if old is not None:
        begin = _find_value(data, NAME, in_table)
        _, end = json.JSONDecoder().raw_decode(data, begin)
        return text[:begin] + written + text[end:]
    member = f'"{NAME}": {written},'  # what has comments may have a comma after the last member
    if not in_table:
        in_table, member = data.index("{"), f'"{table}": {{{member}}},'
    return f"{text[: in_table + 1]}\n  {member}{text[in_table + 1 :]}"


def _find_value(data: str, key: str, start: int = 0) -> int:
    """Where the first object with this key begins, 0 if there is none."""
    found = re.compile(rf'"{key}"\s*:\s*(?={{)').search(data, start)
    return found.end() if found else 0


def _find_entry(servers: object, table: str) -> object:
    """The server in the client's table of servers, None if it is not there. Raises ValueError if that is no table."""
    find = getattr(servers, "get", None)
    if find is None:
        raise ValueError(f"it has no table {table} of servers")
    return find(NAME)
