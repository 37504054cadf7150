"""Checks of the environment: file permissions, disk, keys, editor, clipboard and terminal.

Each returns what it found and, if something could be better, the next step. A problem is raised as a ZkchatError.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from zkchat_cli import credentials
from zkchat_cli.errors import ConfigError, StoreError, UsageError
from zkchat_cli.paths import AppPaths
from zkchat_cli.terminal.clipboard import CLIPBOARDS
from zkchat_cli.terminal.editor import Editor

MIN_FREE, LOW_FREE = 50_000_000, 500_000_000
"""Bytes of free disk space below which the check fails, and below which it warns."""
NARROW = 60


class EnvironmentCheck(NamedTuple):
    """What was found, and how to improve it."""

    detail: str
    next_step: str | None = None


def permissions(where: AppPaths) -> EnvironmentCheck:
    """Whether other users can read conversations, keys or settings."""
    if os.name != "posix":
        return EnvironmentCheck("managed by the system")
    files = (where.keys_file, where.store_file, *where.data_dir.glob("*.db-*"), *where.data_dir.glob("*.log*"))
    private = [file for file in files if file.exists()]
    open_files = [file for file in private if file.stat().st_mode & 0o077]
    if open_files:
        kind = ConfigError if where.keys_file in open_files else StoreError
        raise kind(f"other users can read {', '.join(map(str, open_files))}", f"chmod 600 {' '.join(map(str, open_files))}")
    folders = [folder for folder in (where.keys_file.parent, where.data_dir, where.cache_dir / "index") if folder.exists()]
    open_folders = [str(folder) for folder in folders if folder.stat().st_mode & 0o077]
    if open_folders:
        return EnvironmentCheck("files are private, but other users can list their folders", f"chmod 700 {' '.join(open_folders)}")
    return EnvironmentCheck("settings, keys, conversations and index are private")


def disk(where: AppPaths, vault: Path | None) -> EnvironmentCheck:
    """Free disk space where zkchat writes."""
    folders = {"conversations": where.data_dir, "index": where.cache_dir} | ({"vault": vault} if vault is not None else {})
    free = {name: shutil.disk_usage(_nearest_existing(folder)).free for name, folder in folders.items()}
    least = min(free, key=lambda name: free[name])
    detail = f"{free[least] / 1e9:.1f} GB free for the {least}"
    if free[least] < MIN_FREE:
        raise StoreError(detail, "Free some disk space: nothing new can be stored on a full disk.")
    return EnvironmentCheck(detail, "Free some disk space soon." if free[least] < LOW_FREE else None)


def _nearest_existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.absolute().parents) if each.exists())


def api_keys(variables: Mapping[str, str], env: Mapping[str, str], where: AppPaths) -> EnvironmentCheck:
    """Where each provider's key comes from."""
    credentials.read_keys(where)  # a damaged file is an error here
    found = {provider: credentials.find_key(provider, variable, env, where) for provider, variable in variables.items()}
    places = [f"{provider}: {key.description}" for provider, key in found.items() if key.value]
    return EnvironmentCheck("; ".join(places) or "none (offline needs none)")


def editor(env: Mapping[str, str]) -> EnvironmentCheck:
    """The editor that Ctrl+X Ctrl+E and `config edit` open."""
    try:
        found = Editor.find(env)
    except UsageError as e:
        return EnvironmentCheck(e.message, e.hint)
    return EnvironmentCheck(" ".join(found.command) + (f" (${found.variable})" if found.variable else ""))


def clipboard(env: Mapping[str, str]) -> EnvironmentCheck:
    """The program that copies to the clipboard."""
    able = (command[0] for variable, command in CLIPBOARDS if not variable or env.get(variable))
    found = next((name for name in able if shutil.which(name, path=env.get("PATH"))), None)
    return EnvironmentCheck(found or "no program; terminals that support OSC 52 copy without one")


def terminal(env: Mapping[str, str]) -> EnvironmentCheck:
    """What the terminal can display."""
    if not sys.stdout.isatty():
        return EnvironmentCheck("none: output to a file or a pipe, plain UTF-8")
    columns, rows = shutil.get_terminal_size()
    name = env.get("TERM") or "unknown"
    plain = "off by NO_COLOR" if env.get("NO_COLOR") else "none" if name in ("dumb", "unknown") else ""
    colours = plain or ("16 million" if env.get("COLORTERM") in ("truecolor", "24bit") else "256" if "256" in name else "16")
    charset = next((value for key in ("LC_ALL", "LC_CTYPE", "LANG") if (value := env.get(key))), "")
    unicode = "UTF-8" in charset.upper().replace("UTF8", "UTF-8") or sys.platform in ("win32", "darwin")
    steps = [] if unicode else ["set LANG=C.UTF-8 so that non-English letters are shown"]
    steps += ["set TERM so that lines can be edited"] if name in ("dumb", "unknown") else []
    steps += [f"widen it: lines wrap at {columns} columns"] if columns < NARROW else []
    letters = "UTF-8" if unicode else f"not UTF-8 ({charset or 'LANG is not set'})"
    return EnvironmentCheck(f"{name}, {columns} × {rows}, colors: {colours}, {letters}", "; ".join(steps) or None)
