"""What zkchat finds around itself, for `doctor`: who may read its files, disk, git, an editor, the clipboard, the terminal.

Each answers with what there is and, where something could be better, with what to do; what is wrong is a ZkchatError.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from zkchat_cli import credentials
from zkchat_cli.errors import ConfigError, StoreError, UsageError
from zkchat_cli.paths import AppPaths
from zkchat_cli.terminal.external_editor import Editor
from zkchat_cli.terminal.external_programs import CLIPBOARDS

LEAST_FREE, LITTLE_FREE = 50_000_000, 500_000_000
"""Bytes: below the first nothing can be relied on, below the second it is time to look."""
NARROW = 60


class EnvironmentCheck(NamedTuple):
    """What there is, and what could be done."""

    detail: str
    next_step: str | None = None


def permissions(where: AppPaths) -> EnvironmentCheck:
    """Whether anybody else may read conversations, keys or settings."""
    if os.name != "posix":
        return EnvironmentCheck("left to this system")
    kept = (where.keys_file, where.store_file, *where.data_dir.glob("*.db-*"), *where.data_dir.glob("*.log*"))
    private = [file for file in kept if file.exists()]
    open_files = [file for file in private if file.stat().st_mode & 0o077]
    if open_files:
        kind = ConfigError if where.keys_file in open_files else StoreError
        raise kind(f"others may read {', '.join(map(str, open_files))}", f"chmod 600 {' '.join(map(str, open_files))}")
    folders = [folder for folder in (where.keys_file.parent, where.data_dir, where.cache_dir / "index") if folder.exists()]
    open_folders = [str(folder) for folder in folders if folder.stat().st_mode & 0o077]
    if open_folders:
        return EnvironmentCheck("files are yours alone; others may list their folders", f"chmod 700 {' '.join(open_folders)}")
    return EnvironmentCheck("settings, keys, conversations and index are yours alone")


def disk(where: AppPaths, vault: Path | None) -> EnvironmentCheck:
    """Free space where zkchat writes."""
    places = {"conversations": where.data_dir, "index": where.cache_dir} | ({"vault": vault} if vault is not None else {})
    free = {name: shutil.disk_usage(_existing(folder)).free for name, folder in places.items()}
    least = min(free, key=lambda name: free[name])
    shown = f"{free[least] / 1e9:.1f} GB free for the {least}"
    if free[least] < LEAST_FREE:
        raise StoreError(shown, "Free some space: a full disk loses nothing, but keeps nothing new.")
    return EnvironmentCheck(shown, "Free some space soon." if free[least] < LITTLE_FREE else None)


def _existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.absolute().parents) if each.exists())


def kept_keys(variables: Mapping[str, str], env: Mapping[str, str], where: AppPaths) -> EnvironmentCheck:
    """Where each provider's key comes from."""
    credentials.check_readable(where)
    found = {provider: credentials.find_key(provider, variable, env, where) for provider, variable in variables.items()}
    gone = [provider for provider, key in found.items() if key.source == "keyring" and not key.value]
    if gone:
        raise ConfigError(f"the key for {' and '.join(gone)} is not in the keyring", f"Unlock it, or: zkchat keys set {gone[0]}")
    said = [f"{provider}: {key.description}" for provider, key in found.items() if key.value]
    return EnvironmentCheck("; ".join(said) or "none, and offline needs none")


def repository(vault: Path | None, *, wanted: bool) -> EnvironmentCheck:
    """git, and whether the vault is in a repository; that is wrong only if changes are to be committed (`vault.git`)."""
    hint = "zkchat config unset vault.git, or install git."
    if shutil.which("git") is None:
        if wanted:
            raise ConfigError("vault.git is true, and there is no git on this machine", hint)
        return EnvironmentCheck("not installed; only vault.git would need it")
    version = _said("git", "--version").removeprefix("git version ")
    if vault is None or not vault.is_dir():
        return EnvironmentCheck(version)
    inside = _said("git", "-C", str(vault), "rev-parse", "--is-inside-work-tree") == "true"
    if wanted and not inside:
        raise ConfigError(f"vault.git is true, and {vault} is in no git repository", f"git init {vault}, or zkchat config unset vault.git.")
    commits = "; changes of a model are committed" if wanted else "; vault.git is false" if inside else ""
    return EnvironmentCheck(f"{version}; the vault is in {'a' if inside else 'no'} repository{commits}")


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=5, stdin=subprocess.DEVNULL, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def editor(env: Mapping[str, str]) -> EnvironmentCheck:
    """What Ctrl+X Ctrl+E and `config edit` open."""
    try:
        found = Editor.of(env)
    except UsageError as e:
        return EnvironmentCheck(e.message, e.hint)
    return EnvironmentCheck(" ".join(found.command) + (f" (${found.variable})" if found.variable else ""))


def clipboard(env: Mapping[str, str]) -> EnvironmentCheck:
    """What puts a text on the clipboard."""
    able = (command[0] for variable, command in CLIPBOARDS if not variable or env.get(variable))
    found = next((name for name in able if shutil.which(name, path=env.get("PATH"))), None)
    return EnvironmentCheck(found or "no program for it; a terminal that understands OSC 52 does it itself")


def terminal(env: Mapping[str, str]) -> EnvironmentCheck:
    """What the terminal can show."""
    if not sys.stdout.isatty():
        return EnvironmentCheck("none: the output goes into a file or a pipe, plain and UTF-8")
    columns, rows = shutil.get_terminal_size()
    name = env.get("TERM") or "unknown"
    plain = "off by NO_COLOR" if env.get("NO_COLOR") else "none" if name in ("dumb", "unknown") else ""
    colours = plain or ("16 million" if env.get("COLORTERM") in ("truecolor", "24bit") else "256" if "256" in name else "16")
    charset = next((value for key in ("LC_ALL", "LC_CTYPE", "LANG") if (value := env.get(key))), "")
    unicode = "UTF-8" in charset.upper().replace("UTF8", "UTF-8") or sys.platform in ("win32", "darwin")
    steps = [] if unicode else ["set LANG=C.UTF-8, or letters other than English ones may not show"]
    steps += ["set TERM, or no line can be edited"] if name in ("dumb", "unknown") else []
    steps += [f"widen it: lines break at {columns} columns"] if columns < NARROW else []
    letters = "UTF-8" if unicode else f"not UTF-8 ({charset or 'LANG is not set'})"
    return EnvironmentCheck(f"{name}, {columns} × {rows}, colours: {colours}, {letters}", "; ".join(steps) or None)
