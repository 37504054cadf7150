"""The tasks in a note: boxes (`- [ ] call`), and the keywords of outliners (`- TODO call`)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.markdown.blocks import MarkdownBlock, blocks
from zkchat_cli.text import words
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern

LENGTH_OF_ROOT = 3
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
_WORD = lazy_pattern(r"\w+")
# Letters of a word that may have a letter wrong, missing or too many
SHORTEST_CORRECTED = 5
# A text without these has no task
_MAY_HAVE_TASK = lazy_pattern(
    r"\[[^\]\n]\]|TODO|DOING|NOW|LATER|WAIT|IN-PROGRESS|STARTED|DONE|CANC"
)


class NoteTask(NamedTuple):
    """A task, with the line of its note that it is in, the day on which it is due (as 2026-01-31;
    empty without one), and the headings and items of lists above it.
    """

    line: int
    text: str
    state: TaskState
    due: str = ""
    above: str = ""


def find_tasks(text: str) -> list[NoteTask]:
    """The tasks of a note in its order; what looks like one in code is none."""
    found: list[NoteTask] = []
    if not _MAY_HAVE_TASK.search(text):
        return found
    above = _TextAbove()
    for block in blocks(text):
        above.read(block)
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
            found.append(NoteTask(number, task["text"].strip(), state, due, above.text))
    return found


class _TextAbove:
    """The headings, and the items of a list that others are nested in, above a block."""

    def __init__(self) -> None:
        self._headings: list[MarkdownBlock] = []
        self._items: list[MarkdownBlock] = []

    def read(self, block: MarkdownBlock) -> None:
        """Go on to the next block."""
        if block.kind == "heading":
            self._headings = [each for each in self._headings if each.level < block.level]
            self._headings.append(block)
            self._items = []
        elif block.kind == "item":
            self._items = [each for each in self._items if each.level < block.level]
            self._items.append(block)

    @property
    def text(self) -> str:
        """Their text, without the block itself."""
        return " ".join(block.text for block in (*self._headings, *self._items[:-1]))


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
    folded = fold(text)
    # The forms of a word begin alike, and most lines have none of them
    if not all(fold(word)[:LENGTH_OF_ROOT] in folded for word in _content(wanted)):
        return False
    languages = words.detect_languages((text, wanted))
    stems = {words.stem(word, languages) for word in words.content_terms(text)}
    return all(words.stem(word, languages) in stems for word in _content(wanted))


def correct_words(text: str, known: Iterable[str]) -> str:
    """A text with words that the known texts do not have in any form replaced by the most frequent
    of theirs that is one slip of the finger away; as it is if there is none.
    """
    counts: Counter[str] = Counter()
    written: dict[str, str] = {}
    # Many texts have the same words
    for word, count in Counter(word for each in known for word in _WORD.findall(each)).items():
        for term in words.content_terms(word):
            counts[term] += count
            written.setdefault(term, word)
    corrected = text
    for word in _WORD.findall(text):
        near = _near_word(word, counts)
        if near:
            corrected = corrected.replace(word, written[near], 1)
    return corrected


def _near_word(word: str, counts: Counter[str]) -> str:
    """The most frequent of the words that is one edit away; empty if there is none, and for a word
    that is one of them.
    """
    [term, *others] = words.content_terms(word) or [""]
    if others or not term or term in counts or term in words.STOPWORDS:
        return ""
    near = sorted(set(words.edits(term, SHORTEST_CORRECTED)) & counts.keys())
    return max(near, key=counts.__getitem__, default="")


def _content(text: str) -> Iterable[str]:
    return (word for word in words.content_terms(text) if word not in words.STOPWORDS)
