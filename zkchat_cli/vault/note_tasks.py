"""The tasks in a note: boxes (`- [ ] call`), and the keywords of outliners (`- TODO call`)."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.markdown.blocks import blocks
from zkchat_cli.text import words
from zkchat_cli.text.patterns import lazy_pattern

TaskState = Literal["open", "done"]
# "[-]" and "[>]" are cancelled and moved elsewhere; the other marks are kinds of open tasks
_DONE = ("x", "X", "-", ">", "DONE", "CANCELED", "CANCELLED")
_TASK = lazy_pattern(
    r"(?:\[(?P<mark>[^\]\n])\]|(?P<keyword>TODO|DOING|NOW|LATER|WAITING|WAIT|IN-PROGRESS|STARTED"
    r"|DONE|CANCELLED|CANCELED)):?[ \t]+(?P<text>\S.*)"
)
# When a task is due, as Obsidian Tasks, Dataview and Logseq write it
_DUE = lazy_pattern(
    r"(?:[\U0001F4C5\U0001F4C6\U0001F5D3]\ufe0f? ?|\b(?:due|faellig|vence|echeance)::? ?|@due\("
    r"|DEADLINE: ?<)(?P<day>\d{4}-\d{2}-\d{2})"
)
# A text without these has no task
_MAY_HAVE_TASK = lazy_pattern(
    r"\[[^\]\n]\]|TODO|DOING|NOW|LATER|WAIT|IN-PROGRESS|STARTED|DONE|CANC"
)


class NoteTask(NamedTuple):
    """A task, with the line of its note that it is in, and the day on which it is due (as
    2026-01-31; empty without one).
    """

    line: int
    text: str
    state: TaskState
    due: str = ""


def find_tasks(text: str) -> list[NoteTask]:
    """The tasks of a note in its order; what looks like one in code is none."""
    found: list[NoteTask] = []
    if not _MAY_HAVE_TASK.search(text):
        return found
    for block in blocks(text):
        if block.kind not in ("item", "paragraph"):
            continue
        for number, line in enumerate(block.lines, block.line):
            task = _TASK.match(line)
            # A box without the mark of a list is none
            if task is None or (task["mark"] and (block.kind != "item" or number > block.line)):
                continue
            is_done = (task["mark"] or task["keyword"]) in _DONE
            state: TaskState = "done" if is_done else "open"
            due = _due_day(block.lines[number - block.line :])
            found.append(NoteTask(number, task["text"].strip(), state, due))
    return found


def _due_day(lines: Sequence[str]) -> str:
    """The day in the line of a task or those that belong to it, up to the next task."""
    for i, line in enumerate(lines):
        if i and _TASK.match(line):
            return ""
        if found := _DUE.search(line):
            return found["day"]
    return ""


def has_words(text: str, wanted: str) -> bool:
    """Whether a text has all words of another, in any form."""
    languages = words.detect_languages((text, wanted))
    stems = {words.stem(word, languages) for word in words.content_terms(text)}
    return all(words.stem(word, languages) in stems for word in _content(wanted))


def _content(text: str) -> Iterable[str]:
    return (word for word in words.content_terms(text) if word not in words.STOPWORDS)
