"""/save: save the last answer as a note; asks first (--yes: does not).

Without a path, the note is named after the question. Citations become links. Existing notes are never overwritten.
"""

import os
from functools import partial

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand, YesNoQuestion
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.vault import Vault
from zkchat_cli.views import answer_note

YES = "--yes"


def _save(session: ZkChatSession, argument: str) -> CommandResult:
    """Make the note and ask. Links to the sources replace the citation marks."""
    words = argument.split(" ")
    confirmed = YES in (words[0], words[-1])
    requested = " ".join(words[1:] if words[0] == YES else words[:-1] if confirmed else words).strip()
    last = base.last_answer(session, "to save ")
    question = last.question.content if last.question else ""
    vault, answer = session.vault, last.answer
    text = answer_note.note_text(question, answer, session.conversation.id, vault.link_name)
    change = vault.editor.create(_note_path(vault, requested, question), text)
    [path] = change.paths
    save = partial(_save_note, session, change._replace(summary=f"save {path}"))
    if confirmed:
        return save()
    return CommandResult(question=YesNoQuestion(f"Save the last answer as {path}?", save, f"/save {YES} {requested}".rstrip()))


def _note_path(vault: Vault, requested: str, question: str) -> str:
    """The path for the note: as given, plus `.md`; for a folder (`Answers/`) or no path, a name made from the question."""
    requested = replace_surrogates(requested)
    if requested and not requested.endswith("/"):
        return requested if requested.lower().endswith(NOTE_SUFFIXES) else requested + ".md"
    return requested + answer_note.file_name(question, lambda name: os.path.lexists(vault.root / requested / name))


def _save_note(session: ZkChatSession, change: Change) -> CommandResult:
    if (report := session.vault.editor.apply(change)) is not None:
        session.apply_scan(report)
    [path] = change.paths
    ignored = "" if path in session.vault.note_paths() else "; it is not indexed: vault.ignore excludes it"
    return CommandResult(f"Saved as {path}{ignored}")


COMMAND = SlashCommand(_save, "[--yes] [path]")
