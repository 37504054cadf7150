"""A user decides about a change hunk by hunk, as in `git add -p`.

The loop is here; the terminal, the window and editors ask each question in their way.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.edit.approval import ALLOWED, DECLINED, Decision
from zkchat_cli.vault.edit.hunks import Hunk, divide, join, line_text
from zkchat_cli.vault.edit.transaction import Change, FileChange

# Characters of a hunk's text in its name
MAX_OPENING = 60
# Hunks that the result for the model names
MOST_NAMED = 20


class Choice(Enum):
    """An answer about a hunk, with its key and what it does."""

    YES = ("y", "make this change")
    NO = ("n", "leave it out")
    ALL = ("a", "make this and all later changes of this note")
    NONE = ("d", "leave out this and all later changes of this note")
    QUIT = ("q", "leave out this and everything that is left")
    # Takes back the answers so far, too
    STOP = ("", "change nothing")

    def __init__(self, key: str, help_: str) -> None:
        self.key = key
        self.help = help_


class HunkQuestion(NamedTuple):
    """A hunk to decide about, the `number`-th of `total` in a change. `step` is the change of its
    file by this hunk alone, after those that were taken before it.
    """

    change: Change
    file: FileChange
    hunk: Hunk
    number: int
    total: int
    step: FileChange


class HunkAnswer(NamedTuple):
    """The user's choice, the hunk in its place if the user has `edited` it, and the reason for a no
    in the user's words.
    """

    choice: Choice
    edited: Hunk | None = None
    reason: str = ""


AskAboutHunk = Callable[[HunkQuestion], HunkAnswer]


class _DecidedHunk(NamedTuple):
    """A hunk with its answer."""

    file: FileChange
    hunk: Hunk
    answer: HunkAnswer

    @property
    def is_taken(self) -> bool:
        return self.answer.choice in (Choice.YES, Choice.ALL)

    @property
    def is_edited(self) -> bool:
        """Whether it is made with other lines than were proposed."""
        return self.is_taken and self.answer.edited is not None

    @property
    def made(self) -> Hunk:
        """The hunk as it is made."""
        return self.answer.edited or self.hunk


class HunkDecision(NamedTuple):
    """What the user decided, and whether nothing more shall be asked in this turn."""

    decision: Decision
    ends_turn: bool = False


def can_divide(change: Change) -> bool:
    """Whether a change can be made in part: a renamed note and the links to it cannot."""
    return all(file.path in (None, file.new_path) for file in change.files)


def review_hunks(change: Change, ask: AskAboutHunk) -> HunkDecision:
    """Ask about each hunk of a change; the decision has the part that the user took."""
    divided = [(file, divide(file)) for file in change.files]
    total = sum(len(hunks) for _, hunks in divided)
    decided: list[_DecidedHunk] = []
    last: Choice | None = None
    for file, hunks in divided:
        if last is not Choice.QUIT:
            last = None
        for hunk in hunks:
            if last in (Choice.ALL, Choice.NONE, Choice.QUIT):
                answer = HunkAnswer(last)
            else:
                step = _step(file, _taken_hunks(decided, file), hunk)
                answer = ask(HunkQuestion(change, file, hunk, len(decided) + 1, total, step))
                last = answer.choice
            if last is Choice.STOP:
                return HunkDecision(DECLINED, ends_turn=True)
            decided.append(_DecidedHunk(file, hunk, answer))
    return HunkDecision(_decide(change, decided), ends_turn=last is Choice.QUIT)


def _step(file: FileChange, taken: Sequence[Hunk], hunk: Hunk) -> FileChange:
    """The change of a file by a hunk, if those that are taken are made before."""
    before = join(file, taken).after
    return file._replace(before=before, after=join(file, [*taken, hunk]).after)


def _taken_hunks(decided: Sequence[_DecidedHunk], file: FileChange) -> list[Hunk]:
    """The hunks of a file to make, as the user edited them."""
    return [each.made for each in decided if each.is_taken and each.file is file]


def _decide(change: Change, decided: Sequence[_DecidedHunk]) -> Decision:
    taken = [each for each in decided if each.is_taken]
    edited = [each for each in taken if each.is_edited]
    if len(taken) == len(decided) and not edited:
        return ALLOWED
    if not taken:
        return _declined(decided)
    files = [join(file, _taken_hunks(decided, file)) for file in change.files]
    part = change._replace(files=tuple(each for each in files if each.before != each.after))
    told = f"{len(taken)} of {plural(len(decided), 'hunk')}"
    if edited:
        told += f", {len(edited)} edited by the user"
    return Decision(allowed=True, part=part, told=told, report=_report(decided))


def _declined(decided: Sequence[_DecidedHunk]) -> Decision:
    """The decision to make none of these hunks."""
    said = "; ".join(_reasons(decided))
    if not said:
        return DECLINED
    return DECLINED._replace(reason=f"{DECLINED.reason}. The user says: {said}")


def _reasons(decided: Sequence[_DecidedHunk]) -> list[str]:
    """Why the user left out hunks, in the user's words."""
    return [each.answer.reason for each in decided if each.answer.reason]


def _report(decided: Sequence[_DecidedHunk]) -> Mapping[str, object]:
    """What the model is told about the hunks."""
    edited = [each for each in decided if each.is_edited]
    texts = [{"hunk": _name(each), "text": _text_of(each.made.new)} for each in edited]
    report: dict[str, object] = {
        "taken": _names([each for each in decided if each.is_taken and not each.is_edited]),
        "edited_by_the_user": texts[:MOST_NAMED],
        "declined_by_the_user": _names([each for each in decided if not each.is_taken]),
        "the_user_says": _reasons(decided),
    }
    return {name: value for name, value in report.items() if value}


def _names(decided: Sequence[_DecidedHunk]) -> list[str]:
    names = [_name(each) for each in decided[:MOST_NAMED]]
    if len(decided) > MOST_NAMED:
        names.append(f"and {len(decided) - MOST_NAMED} more")
    return names


def _name(decided: _DecidedHunk) -> str:
    """`Filters.md, line 11: The filter finds …`"""
    text = _text_of(decided.hunk.new).strip() or f"without {_text_of(decided.hunk.old).strip()}"
    opening = truncate(" ".join(text.split()), MAX_OPENING)
    return f"{decided.file.new_path}, line {decided.hunk.line}: {opening}"


def _text_of(lines: Sequence[bytes]) -> str:
    return "\n".join(map(line_text, lines))
