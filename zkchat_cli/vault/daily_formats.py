"""The formats of the names of daily, weekly and monthly notes: from the setting
`vault.daily_format`, and from what Obsidian, its plugins and Logseq keep in the vault.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from zkchat_cli.fileio import read_file
from zkchat_cli.text.moment_formats import MomentFormat, compile_format, from_java

# Bytes of a settings file
MAX_SETTINGS = 1_000_000
_DAILY_NOTES = ".obsidian/daily-notes.json"
_PERIODIC_NOTES = ".obsidian/plugins/periodic-notes/data.json"
_CALENDAR = ".obsidian/plugins/calendar/data.json"
_LOGSEQ = "logseq/config.edn"
_PERIODS = ("daily", "weekly", "monthly", "quarterly", "yearly")
# Obsidian writes nothing for a format that was not changed
_DEFAULTS = {"yearly": "YYYY"}
_LOGSEQ_FORMAT = re.compile(
    r'^[^;\n"]*:journal/(?:page-title|file-name)-format\s+"(?P<format>[^"\n]{1,100})"',
    re.MULTILINE,
)


def find_daily_formats(root: Path, setting: str) -> tuple[MomentFormat, ...]:
    """The formats for the notes below `root`, that of the `setting` first."""
    written = [setting, *_obsidian_formats(root), *_logseq_formats(root)]
    return tuple(filter(None, map(compile_format, dict.fromkeys(filter(None, written)))))


def _obsidian_formats(root: Path) -> Iterator[str]:
    if not (root / ".obsidian").is_dir():
        return
    yield _text(_read_json(root / _DAILY_NOTES), "format")
    plugin = _read_json(root / _PERIODIC_NOTES)
    for period in _PERIODS:
        settings = plugin.get(period)
        if isinstance(settings, Mapping) and settings.get("enabled", True):
            yield _text(settings, "format") or _DEFAULTS.get(period, "")
    yield _text(_read_json(root / _CALENDAR), "weeklyNoteFormat")


def _text(settings: Mapping[str, Any], key: str) -> str:
    value = settings.get(key)
    return value.strip() if isinstance(value, str) else ""


def _read_json(file: Path) -> Mapping[str, Any]:
    """The settings in a file; none if it is not there, or is not what it was in the past."""
    with suppress(OSError, ValueError, RecursionError):
        settings = json.loads(read_file(file, MAX_SETTINGS))
        if isinstance(settings, dict):
            return settings
    return {}


def _logseq_formats(root: Path) -> Iterator[str]:
    with suppress(OSError, ValueError):
        text = read_file(root / _LOGSEQ, MAX_SETTINGS).decode("utf-8", "replace")
        for found in _LOGSEQ_FORMAT.finditer(text):
            yield from_java(found["format"])
