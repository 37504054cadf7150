"""/save: keep the last answer as a note in the vault, with links to the notes it rests on. Asks first, and overwrites nothing."""

import os
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.references import provenance
from zkchat_cli.slash.base import CommandResult, Confirm, SlashCommand
from zkchat_cli.text.words import encodable
from zkchat_cli.vault.approval import apply_change
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.vault import Vault
from zkchat_cli.views import answer_note

YES = "--yes"


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    words = argument.split(" ")
    sure = YES in (words[0], words[-1])
    wanted = " ".join(words[1:] if words[0] == YES else words[:-1] if sure else words).strip()
    last = provenance.last_exchange(session.history)
    if last is None:
        raise UsageError("there is no answer to save yet", "Ask something first.")
    question = last.question.content if last.question else ""
    vault, answer = session.vault, last.answer
    note = answer_note.AnswerNote(question, answer.content, answer.citations, answer.model, answer.timestamp, session.conversation.id)
    change = vault.editor.create(_path(vault, wanted, question), answer_note.note(note, partial(_name, vault)))
    [path] = change.paths
    save = partial(_save, session, replace(change, summary=f"save {path}"))
    if sure:
        return save()
    folders = map(str, reversed(PurePosixPath(path).parents))
    new_folder = next((folder for folder in folders if not (vault.root / folder).exists()), None)
    folder = f", in a new folder {new_folder}" if new_folder else ""
    return CommandResult(confirm=Confirm(f"Save the last answer as {path}{folder}?", save, f"/save {YES} {wanted}".rstrip()))


def _path(vault: Vault, wanted: str, question: str) -> str:
    """Where the note goes: as asked, `.md` added; in a folder (`Answers/`) or where nothing was asked under a name from the question."""
    wanted = encodable(wanted)
    if wanted and not wanted.endswith("/"):
        return wanted if wanted.lower().endswith(NOTE_SUFFIXES) else wanted + ".md"
    folder = wanted.rstrip("/") + "/" if wanted.rstrip("/") else wanted
    return folder + answer_note.file_name(question, lambda name: os.path.lexists(vault.root / folder / name))


def _save(session: ZkChatSession, change: Change) -> CommandResult:
    applied = apply_change(session.vault, change, git=session.approval.git)
    if applied.interrupted:
        raise KeyboardInterrupt
    if applied.report is not None:
        session.apply_scan(applied.report)
    [path] = change.paths
    ignored = "" if path in session.vault.note_paths() else "; it is not indexed, because vault.ignore names it"
    problem = f": {applied.problem.message}" if applied.problem is not None else ""
    return CommandResult(f"Saved as {path}{ignored}{applied.message.removeprefix('done')}{problem}")


def _name(vault: Vault, relative_path: str) -> str:
    """How a link names a note: by its name where that means this note alone, else by its path."""
    path = PurePosixPath(relative_path)
    if path.suffix.lower() != NOTE_SUFFIXES[0]:
        return relative_path
    link = vault.resolve(path.stem)
    alone = link.status == "found" and link.target == relative_path
    return path.stem if alone else str(path.with_suffix(""))


COMMAND = SlashCommand(
    "save",
    "keep the last answer as a note; asks first (--yes: does not)",
    _run,
    "[--yes] [path]",
    more="Named after the question where you give no path, `.md` added; its citations become links. No note is ever overwritten.",
)
