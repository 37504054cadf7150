"""/save: save the last answer as a note; asks first (--yes: does not).

Without a path, the note is named after the question. Citations become links. Existing notes are never overwritten.
"""

import os

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand, YesNoQuestion, last_answer
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.views import answer_note

YES = "--yes"


def _save(session: ZkChatSession, argument: str) -> CommandResult:
    words = argument.split(" ")
    confirmed = YES in (words[0], words[-1])
    requested = " ".join(words[1:] if words[0] == YES else words[:-1] if confirmed else words).strip()
    last = last_answer(session, "to save ")
    question = last.question.content if last.question else ""
    vault = session.vault
    path = replace_surrogates(requested)
    if not path or path.endswith("/"):  # a folder (`Answers/`): a name made from the question
        path += answer_note.file_name(question, lambda name: os.path.lexists(vault.root / path / name))
    elif not path.lower().endswith(NOTE_SUFFIXES):
        path += ".md"
    change = vault.editor.create(path, answer_note.note_text(question, last.answer, session.conversation.id, vault.link_name))
    [path] = change.paths
    [path] = change.paths

    def save() -> CommandResult:
        if (report := vault.editor.apply(change._replace(summary=f"save {path}"))) is not None:
            session.apply_scan(report)
        ignored = "" if path in vault.note_paths() else "; it is not indexed: vault.ignore excludes it"
        return CommandResult(f"Saved as {path}{ignored}")

    if confirmed:
        return save()
    return CommandResult(question=YesNoQuestion(f"Save the last answer as {path}?", save, f"/save {YES} {requested}".rstrip()))


COMMAND = SlashCommand(_save, "[--yes] [path]")
