"""Saves the last answer as a note."""

import os
import unicodedata
from collections.abc import Callable
from itertools import count

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.exporters.md import answer_note
from zkchat_cli.slash.base import CommandResult, Topic, YesNoQuestion, declare_command
from zkchat_cli.slash.lookups import last_answer
from zkchat_cli.text.sentences import first_sentence
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES

YES = "--yes"
# Most characters of the question in the note
MAX_QUESTION = 2000
# Most characters of a file name; they have at most 240 bytes, and file systems allow 255
MAX_NAME = 60


def save(session: ZkChatSession, argument: str) -> CommandResult:
    """Save the last answer as a note; asks first (--yes: does not).

    Without a path, the note is named after the question. Citations become footnotes. Existing notes
    are never overwritten.
    """
    words = argument.split(" ")
    is_confirmed = YES in (words[0], words[-1])
    if words[0] == YES:
        words = words[1:]
    elif is_confirmed:
        words = words[:-1]
    requested = " ".join(words).strip()

    question, answer = last_answer(session)
    asked = question.content if question else ""
    text = answer_note(
        asked[:MAX_QUESTION], answer, session.conversation.id, session.vault.link_name
    )
    change = session.vault.editor.create(_note_path(session, requested, asked), text)
    [path] = change.paths

    def write() -> CommandResult:
        return CommandResult(_write_note(session, change, path))

    if is_confirmed:
        return write()
    command = f"/save {YES} {requested}".rstrip()
    return CommandResult(question=YesNoQuestion(f"Save the last answer as {path}?", write, command))


def _note_path(session: ZkChatSession, requested: str, question: str) -> str:
    """The path for the note: as requested, or in the requested folder (`Answers/`; default: the
    vault's) with a name made from the question.
    """
    path = replace_surrogates(requested)
    if not path or path.endswith("/"):
        folder = session.vault.root / path
        return path + file_name(question, lambda name: os.path.lexists(folder / name))
    if not path.lower().endswith(NOTE_SUFFIXES):
        path += ".md"
    return path


def _write_note(session: ZkChatSession, change: Change, path: str) -> str:
    report = session.vault.editor.apply(change._replace(summary=f"save {path}"))
    if report is not None:
        session.apply_scan(report)
    if path in session.vault.note_paths():
        return f"Saved as {path}"
    return f"Saved as {path}; it is not indexed: vault.ignore excludes it"


def file_name(question: str, exists: Callable[[str], bool]) -> str:
    """A file name from the question's first sentence, valid on every file system and not
    `exists`.
    """
    allowed = "".join(c if _is_allowed(c) else " " for c in first_sentence(question))
    words = truncate(allowed, MAX_NAME).rstrip("…").strip(" -_'’")
    name = words[:1].upper() + words[1:] or "Answer"
    candidate = f"{name}.md"
    for number in count(2):
        if not exists(candidate):
            break
        candidate = f"{name} {number}.md"
    return candidate


def _is_allowed(character: str) -> bool:
    """Whether a character may be in a file name: a letter, a digit, an accent, and few others."""
    return (
        character.isalnum()
        or character in "-_'’"
        or unicodedata.category(character).startswith("M")
    )


COMMAND = declare_command(save, Topic.CONVERSATION, order=90, argument="[--yes] [path]")
