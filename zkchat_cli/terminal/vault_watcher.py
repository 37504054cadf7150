"""Watch the vault for changed notes while the chat waits for input, if the package `watchfiles` is installed.

This only keeps completion current and the next scan short. The scan before each turn stays, because only a scan is complete: the system
drops events when there are too many, and a network drive sends none. So errors here just end the watching.
"""

import os
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from zkchat_cli.vault import filesystem
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES

MAX_PATHS = 500
"""Changed paths from which scanning all files is no slower."""
STEP_MS = 50
"""Quiet time before changes are reported (a save is several events), and the delay of stopping."""
MAX_BATCH_MS = 1_000
"""Longest time for which continuous changes are collected."""
MAX_FAILURES = 3


def watch_vault(root: Path, ignore: Sequence[str], stopped: threading.Event) -> Iterator[frozenset[str] | None]:
    """Yields the changed paths, relative to the vault with `/`, or None when anything may have changed; the first value is None.

    Ends soon after `stopped` is set, and when watching is not possible. It blocks: for a thread of its own.
    """
    try:
        from watchfiles import watch  # 30 ms, after the prompt is drawn
    except ImportError:
        return
    failures = 0
    while failures < MAX_FAILURES and not stopped.wait(failures):
        folders, recursive = _watched_folders(root, ignore)
        armed = False
        try:
            with closing(
                watch(
                    *folders,
                    recursive=recursive,
                    watch_filter=None,
                    debounce=MAX_BATCH_MS,
                    step=STEP_MS,
                    rust_timeout=2 * STEP_MS,
                    yield_on_timeout=True,
                    stop_event=stopped,
                    raise_interrupt=False,
                    force_polling=False,  # polling would read the whole vault three times a second
                    ignore_permission_denied=True,
                )
            ) as batches:
                for batch in batches:
                    if not armed:
                        if not root.is_dir():
                            return  # watchfiles would wait forever
                        armed, failures = True, 0
                        yield None
                    paths = changed_paths(root, ((change.name, path) for change, path in batch))
                    if paths is None:
                        break  # there may be new folders, which are not watched yet
                    if paths:
                        yield paths
        except (OSError, RuntimeError, ValueError):
            # an undecodable file name, the system's limit of watches, …
            failures += 1


def changed_paths(root: Path, events: Iterable[tuple[str, str]]) -> frozenset[str] | None:
    """The notes and attachments of events (`added`, `modified` or `deleted`, with a full path); None when anything may have changed:
    after too many events, or when a folder was added, removed or renamed, whose content the events do not name.
    """
    events_of: defaultdict[str, set[str]] = defaultdict(set)
    for event, path in events:
        events_of[path].add(event)
    paths = set()
    for path, kinds in events_of.items():
        relative = os.path.relpath(path, root).replace(os.sep, "/")
        if relative == ".":
            if "deleted" in kinds:
                return None
        elif not any(part.startswith(".") for part in relative.split("/")):
            if os.path.isdir(path):  # noqa: PTH112 - a Path costs ten times as much, and thousands of files may have changed
                if kinds != {"modified"}:
                    return None
            elif relative.lower().endswith(NOTE_SUFFIXES):
                paths.add(relative)
            elif os.path.lexists(path):
                if kinds != {"modified"}:  # the content of attachments is not indexed
                    paths.add(relative)
            elif "added" not in kinds:  # added and deleted at once: a temporary file of an editor
                return None
    return frozenset(paths) if len(paths) <= MAX_PATHS else None


def _watched_folders(root: Path, ignore: Sequence[str]) -> tuple[list[str], bool]:
    """The folders to watch, and whether recursively.

    Linux watches single folders; if watchfiles looked for them, it would enter hidden ones and follow links out of the vault.
    """
    recursive = sys.platform != "linux"
    return [str(root)] if recursive else filesystem.list_folders(root, ignore), recursive
