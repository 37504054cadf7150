"""What a slash command is, and what it returns. Commands do not print: the chat, a pipe, the window and editors run the same code."""

import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.chat import pins
from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.events import Event
from zkchat_cli.exporters.base import UNSUPPORTED
from zkchat_cli.models import ContentChunk, ZkChatMessage
from zkchat_cli.references.provenance import CitedInAnswer, Exchange, last_exchange
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.sources import VERDICT_MARKS, SourceLocation, locate_chunk
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

Lines = Iterable[StyledLine]
MAX_LISTED_CONVERSATIONS = 200
MAX_OPENING = 60
SOURCE_NUMBER = re.compile(r"\[?(\d{1,9})\]?", re.ASCII)


class YesNoQuestion(NamedTuple):
    """A question with the action that a yes runs. In a pipe, the user has to type `command_without_asking` instead."""

    text: str
    run: "Callable[[], CommandResult]"
    command_without_asking: str


class NoteToOpen(NamedTuple):
    """A note to open in an editor at a line (from 1); `text` is shown where there is no editor."""

    file: Path
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What to show, and what the chat does next: ask, run a turn, switch to another session, or quit.

    Where the lines depend on the width, `lines` has them for 80 columns, and `render` returns them for any. `input_text` is to be edited.
    """

    text: str = ""
    render: Callable[[int], Sequence[StyledLine]] | None = None
    lines: Sequence[StyledLine] = ()
    session: ZkChatSession | None = None
    quit: bool = False
    turn: Generator[Event, None, None] | None = None
    question: YesNoQuestion | None = None
    clipboard: str | None = None
    open_note: NoteToOpen | None = None
    input_text: str = ""


RunCommand = Callable[[ZkChatSession, str], CommandResult | str | Lines]
ListValues = Callable[[ZkChatSession], Sequence[str] | Mapping[str, str]]


class SlashCommand(NamedTuple):
    run: RunCommand
    name: str
    argument: str
    help: str
    details: str
    values: ListValues

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.argument}".rstrip()


def slash_command(argument: str = "", values: ListValues = lambda _: ()) -> Callable[[RunCommand], SlashCommand]:
    """Decorator of the function that runs a command. The file's docstring has its name and help in the first line, and then
    what `/help NAME` adds.

    `argument` is shown by the help: `TEXT` is required, `[TEXT]` is not. `values` returns completions for it, with descriptions if they are
    a mapping; they are computed in completion's own thread, so that may be slow.
    """

    def declare(run: RunCommand) -> SlashCommand:
        title, _, details = (sys.modules[run.__module__].__doc__ or "").partition("\n")
        name, _, text = title.partition(": ")
        return SlashCommand(run, name.removeprefix("/"), argument, text.rstrip("."), " ".join(details.split()), values)

    return declare


def find_question(session: ZkChatSession, number: str = "") -> pins.TurnPart:
    """The question of turn `number` (default: the last). Raises UsageError that names the valid turns."""
    return pins.resolve_turn(session.history, f"{number or pins.LAST} question")[0]


def last_answer(session: ZkChatSession, purpose: str = "") -> Exchange:
    """The last answer with its question. Raises UsageError if there is none for this `purpose`, such as "to save "."""
    if (last := last_exchange(session.history)) is None:
        raise UsageError(f"there is no answer {purpose}yet", "Ask something first.")
    return last


def model_text(runtime: Runtime) -> str:
    """`ollama/qwen3, context window 32,768 tokens (reported by the server)`"""
    return f"{runtime.model.name}, context window {runtime.window.tokens:,} tokens ({runtime.window.source})"


def opening(message: ZkChatMessage) -> str:
    return truncate(message.display_text, MAX_OPENING)


def complete_turns(parts: Iterable[pins.TurnPart]) -> dict[str, str]:
    return {str(each.turn): opening(each.message) for each in reversed(list(parts))}


def complete_questions(session: ZkChatSession) -> dict[str, str]:
    return complete_turns(each for each in pins.list_turn_parts(session.history) if each.part == "question")


def numbered_chunk(session: ZkChatSession, argument: str) -> ContentChunk | None:
    """The excerpt with this source number (`3`, `[3]`); None if there is none, or the argument is something else, such as `[[3]]`."""
    number = SOURCE_NUMBER.fullmatch(argument)
    return session.references.chunk(int(number[1])) if number else None


def locate_in_note(session: ZkChatSession, chunk: ContentChunk) -> SourceLocation:
    try:
        note = session.vault.read(chunk.relative_path)
    except VaultError:
        note = None
    return locate_chunk(chunk, note)


def citation_lines(citations: Sequence[CitedInAnswer], *, changed: bool, numbered: bool = False) -> Lines:
    """`changed`: whether the note has been edited or deleted since the answers were checked."""
    verb = "was" if changed else "is"
    if not citations:
        yield styled_line("No answer cites it.", "dim")
    for turn, citation in citations:
        quote = f"“{truncate(citation.quote, 80)}”" if citation.quote else ""
        result = {
            "verified": f"the quotation {verb} in the note: {quote}",
            "cited": "without a quotation",
            "cut": f"the quotation cuts a sentence: {quote}; the note says: {citation.sentence}",
            "misquoted": f"the quotation {verb} not in the note: {quote}",
            "missing": "but it was not in that prompt",
        }[citation.verdict]
        support = f"; {UNSUPPORTED}" if citation.is_unsupported else ""
        number = f" as [{citation.number}]" if numbered else ""
        mark = VERDICT_MARKS[citation.verdict]
        mark = mark._replace(text=f"{mark.text} ", spoken="")
        yield StyledLine((mark, StyledSpan(f"cited in turn {turn}{number}, {result}{support}")), indent=2)
