"""/open: open a note, or the place that a source comes from, in the user's editor."""

import re

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.references import provenance
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, NoteToOpen, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views import source_in_note

_WITH_LINE = re.compile(r"(.+):(\d{1,9})")


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if (number := base.parse_source_number(argument)) is not None:
        return _open_source(session, number)
    if not argument:
        last = provenance.last_exchange(session.history)
        cited = next((each.number for each in last.answer.citations if each.relative_path), None) if last else None
        if cited is None:
            raise UsageError("which note?", "/open [[note]], a path or the number of a source.")
        return _open_source(session, cited)
    return _open_note(session, argument)


def _open_source(session: ZkChatSession, number: int) -> CommandResult:
    """The place of the cited text today; its old place if the note no longer contains it."""
    chunk = session.references.chunk(number)
    if chunk is None:
        raise UsageError(f"unknown source {number}", "/sources lists the sources of the last answer, /refs all documents.")
    text = session.vault.read(chunk.relative_path)
    now = source_in_note.locate_chunk(chunk, text)
    return _open_at(session, chunk.relative_path, chunk.start_line if now.state == "changed" else now.first, text)


def _open_note(session: ZkChatSession, name: str) -> CommandResult:
    vault = session.vault
    with_line = _WITH_LINE.fullmatch(name)
    try:
        path, heading = vault.locate(name)
    except VaultError as e:
        if with_line is None:
            raise UsageError(e.message, e.hint) from e
        try:
            path, heading = vault.locate(with_line[1])
        except VaultError:
            raise UsageError(e.message, e.hint) from e
        return _open_at(session, path, int(with_line[2]))
    return _open_at(session, path, vault.section(path, heading)[0] if heading else 1)


def _open_at(session: ZkChatSession, path: str, line: int, text: str | None = None) -> CommandResult:
    vault = session.vault
    text = vault.read(path) if text is None else text
    line = max(1, min(line, text.count("\n") + 1))
    return CommandResult(f"{truncate(path, 200)}:{line}", open_note=NoteToOpen(vault.root / path, line, text))


COMMAND = SlashCommand(
    "open",
    "open a note, or source N, in your editor",
    _run,
    "[[[note]] | path | N]",
    details="Uses the setting terminal.open_command (with {path} and {line}), else $VISUAL or $EDITOR; without one, shows the note here.",
)
