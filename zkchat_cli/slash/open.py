"""/open: open a note, or source N, in your editor.

NOTE is a path, a title or a [[link]]. Uses the setting terminal.open_command (with {path} and {line}), else $VISUAL or
$EDITOR, else Obsidian for a vault of Obsidian, else shows the note here.
"""

import re

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.references import provenance
from zkchat_cli.slash.base import SOURCE_NUMBER, CommandResult, NoteToOpen, locate_in_note, numbered_chunk, slash_command
from zkchat_cli.text.truncate import truncate

_WITH_LINE = re.compile(r"(.+):(\d{1,9})")


@slash_command("[NOTE | N]")
def run(session: ZkChatSession, argument: str) -> CommandResult:
    last = provenance.last_exchange(session.history)
    citations = last.answer.citations if last else ()
    argument = argument or next((str(each.number) for each in citations if each.relative_path), "")
    if not argument:
        raise UsageError("which note?", "/open [[note]], a path or the number of a source.")
    if (chunk := numbered_chunk(session, argument)) is not None:
        cited = next((each.start_line for each in citations if each.number == chunk.number and each.quote and each.start_line), None)
        path, line = chunk.relative_path, locate_in_note(session, chunk).first - chunk.start_line + (cited or chunk.start_line)
    else:
        with_line = _WITH_LINE.fullmatch(argument)
        try:
            path, heading = session.vault.locate(with_line[1] if with_line else argument)
        except VaultError as e:
            if SOURCE_NUMBER.fullmatch(argument) is None:
                raise
            raise UsageError(f"unknown source {argument}", "/sources lists the sources of the last answer, /refs all documents.") from e
        line = int(with_line[2]) if with_line else session.vault.section(path, heading)[0] if heading else 1
    text = session.vault.read(path)
    line = max(1, min(line, text.count("\n") + 1))
    return CommandResult(f"{truncate(path, 200)}:{line}", open_note=NoteToOpen(session.vault.root / path, line, text))
