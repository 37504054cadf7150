"""Which notes change while the chat waits for input, where the package `watchfiles` is installed.

What is learnt here makes completion current and saves the next turn reading; the scan before each turn (while its message is typed, where
there is time for it) stays, for it alone is complete. Of events the system drops those that are too many at once, and watchfiles does not
say so; a network drive sends none of what others write. Nothing tells such a loss from silence, and the scan takes 60 ms for 10 000 notes.
So whatever fails here may also just end.
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

MOST_PATHS = 500
"""Changed paths at once, beyond which looking at all files is no slower."""
STEP_MS = 50
"""How long nothing more must happen before changes are told (a save is several events), and how soon watching ends when asked to."""
LONGEST_MS = 1_000
"""For how long changes are gathered at most while they go on and on."""
TRIES = 3


def changes(root: Path, ignore: Sequence[str], left: threading.Event) -> Iterator[frozenset[str] | None]:
    """What may have changed in the vault, as it happens: paths relative to it with `/`, or None where it may be anything.

    None is also what comes first: from then on nothing is missed. Ends soon after `left` is set, and by itself where there is nothing to
    watch with, the vault has gone, or the system refuses. Takes its time between two values too: for a thread of its own.
    """
    try:
        from watchfiles import watch  # 30 ms: paid by who watches, when the prompt has been drawn
    except ImportError:
        return
    failures = 0
    while failures < TRIES and not left.wait(failures):
        folders, recursive = _watched(root, ignore)
        armed = False
        try:
            with closing(
                watch(
                    *folders,
                    recursive=recursive,
                    watch_filter=None,
                    debounce=LONGEST_MS,
                    step=STEP_MS,
                    rust_timeout=2 * STEP_MS,
                    yield_on_timeout=True,
                    stop_event=left,
                    raise_interrupt=False,
                    force_polling=False,  # which would read the whole vault three times a second
                    ignore_permission_denied=True,
                )
            ) as batches:
                for batch in batches:
                    if not armed:
                        if not root.is_dir():
                            return  # in vain, and watchfiles would wait for ever
                        armed, failures = True, 0
                        yield None
                    paths = concerned(root, ((change.name, path) for change, path in batch))
                    if paths is None:
                        break  # there may be folders that are not watched yet
                    if paths:
                        yield paths
        except (OSError, RuntimeError, ValueError):
            # a file has a name that is no text, the system's limit of watches is reached, …
            failures += 1


def concerned(root: Path, events: Iterable[tuple[str, str]]) -> frozenset[str] | None:
    """The notes and attachments that events (`added`, `modified` or `deleted`, and a full path) are about; None where it may be anything.

    That is when there are too many, and when a folder came, went or got another name: events do not tell what was or is in it.
    """
    happened: defaultdict[str, set[str]] = defaultdict(set)
    for event, path in events:
        happened[path].add(event)
    paths = set()
    for path, kinds in happened.items():
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
                if kinds != {"modified"}:  # what is in an attachment is not indexed
                    paths.add(relative)
            elif "added" not in kinds:  # what came and went at once was an editor's temporary file
                return None
    return frozenset(paths) if len(paths) <= MOST_PATHS else None


def _watched(root: Path, ignore: Sequence[str]) -> tuple[list[str], bool]:
    """The folders to watch, and whether with all that is below them.

    Linux watches each folder by itself, and left to find them watchfiles would look into hidden ones and follow links out of the vault.
    """
    recursive = sys.platform != "linux"
    return [str(root)] if recursive else filesystem.list_folders(root, ignore), recursive
