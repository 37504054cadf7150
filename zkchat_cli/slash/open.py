"""/open: a note, or the place that a source stands at, in the user's editor."""

import re

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.references import provenance
from zkchat_cli.slash.base import CommandResult, NoteToOpen, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views import source_in_note

_WITH_LINE = re.compile(r"(.+):(\d{1,9})")


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    digits = argument.strip("[] ")
    if digits.isascii() and digits.isdecimal() and len(digits) < 10:
        return _source(session, int(digits))
    if not argument:
        last = provenance.last_exchange(session.history)
        cited = next((each.number for each in last.answer.citations if each.relative_path), None) if last else None
        if cited is None:
            raise UsageError("which note?", "/open [[note]], a path, or the number of a source.")
        return _source(session, cited)
    return _note(session, argument)


def _source(session: ZkChatSession, number: int) -> CommandResult:
    """Where what was cited stands today; where it stood, if the note says it no more."""
    chunk = session.references.chunk(number)
    if chunk is None:
        raise UsageError(f"there is no source {number}", "/sources lists those of the last answer, /refs all documents.")
    text = session.vault.read(chunk.relative_path)
    now = source_in_note.locate_now(chunk, text)
    return _opening(session, chunk.relative_path, chunk.start_line if now.state == "changed" else now.first, text)


def _note(session: ZkChatSession, written: str) -> CommandResult:
    vault = session.vault
    at_line = _WITH_LINE.fullmatch(written)
    try:
        path, heading = vault.locate(written)
    except VaultError as e:
        if at_line is None:
            raise UsageError(e.message, e.hint) from e
        try:
            path, heading = vault.locate(at_line[1])
        except VaultError:
            raise UsageError(e.message, e.hint) from e
        return _opening(session, path, int(at_line[2]))
    return _opening(session, path, vault.section(path, heading)[0] if heading else 1)


def _opening(session: ZkChatSession, path: str, line: int, text: str | None = None) -> CommandResult:
    vault = session.vault
    text = vault.read(path) if text is None else text
    line = max(1, min(line, text.count("\n") + 1))
    return CommandResult(f"{truncate(path, 200)}:{line}", opening=NoteToOpen(vault.root / path, line, text))


COMMAND = SlashCommand(
    "open",
    "a note, or a source by its number, in your editor",
    _run,
    "[[[note]] | path | N]",
    more="In what the setting terminal.open_command names (with {path} and {line}), else $VISUAL or $EDITOR; without one it is shown here.",
)
