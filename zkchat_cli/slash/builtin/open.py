"""Opens a note in the user's editor."""

import re
from typing import NamedTuple

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.provenance import last_exchange
from zkchat_cli.slash.base import CommandResult, NoteToOpen, Topic, declare_command
from zkchat_cli.slash.lookups import SOURCE_NUMBER, note_text, numbered_chunk
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.source_in_note import locate_chunk

MAX_PATH = 200
_WITH_LINE = re.compile(r"(.+):(\d{1,9})")


class NoteLine(NamedTuple):
    """A line of a note, from 1."""

    path: str
    line: int


def open_(session: ZkChatSession, argument: str) -> CommandResult:
    """Open a note, or source N, in your editor.

    NOTE is a path, a title or a [[link]]. Uses the setting terminal.open_command (with {path} and
    {line}), else $VISUAL or $EDITOR, else Obsidian for a vault of Obsidian, else shows the note
    here.
    """
    argument = argument or _first_source(session)
    if not argument:
        raise UsageError("which note?", "/open [[note]], a path or the number of a source.")
    chunk = numbered_chunk(session, argument)
    if chunk is not None:
        wanted = _line_of_source(session, chunk)
    else:
        wanted = _line_of_note(session, argument)
    text = session.vault.reader.read(wanted.path)
    last_line = text.count("\n") + 1
    line = max(1, min(wanted.line, last_line))
    return CommandResult(
        f"{truncate(wanted.path, MAX_PATH)}:{line}",
        open_note=NoteToOpen(session.vault.root / wanted.path, line, text),
    )


def _first_source(session: ZkChatSession) -> str:
    """The number of the first source of the last answer; empty without one."""
    last = last_exchange(session.history)
    if last is None:
        return ""
    numbers = (str(each.number) for each in last.answer.citations if each.relative_path)
    return next(numbers, "")


def _line_of_source(session: ZkChatSession, chunk: ContentChunk) -> NoteLine:
    """The line of this source's first quotation in the current note; if there is none, the line
    where the excerpt begins.
    """
    location = locate_chunk(chunk, note_text(session, chunk.relative_path))
    line = location.first
    last = last_exchange(session.history)
    for each in last.answer.citations if last else ():
        if each.number == chunk.number and each.quote and each.start_line:
            line += each.start_line - chunk.start_line
            break
    return NoteLine(chunk.relative_path, line)


def _line_of_note(session: ZkChatSession, argument: str) -> NoteLine:
    """The note that `Path.md:12`, a path, a title or a link names. Raises UsageError for the number
    of a source that does not exist, VaultError for a note that does not.
    """
    with_line = _WITH_LINE.fullmatch(argument)
    try:
        path, heading = session.vault.locate(with_line[1] if with_line else argument)
    except VaultError as e:
        if SOURCE_NUMBER.fullmatch(argument) is None:
            raise
        raise UsageError(
            f"unknown source {argument}",
            "/sources lists the sources of the last answer, /refs all documents.",
        ) from e
    if with_line:
        return NoteLine(path, int(with_line[2]))
    if heading:
        first, _ = session.vault.reader.section(path, heading)
        return NoteLine(path, first)
    return NoteLine(path, 1)


COMMAND = declare_command(open_, Topic.SOURCES, order=70, argument="[NOTE | N]", in_editors=False)
