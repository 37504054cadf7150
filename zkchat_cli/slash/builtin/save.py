"""Saves the last answer as a note."""

import os
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from typing import NamedTuple

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.verify_text import verify_text
from zkchat_cli.errors import UsageError
from zkchat_cli.exporters import md, okf
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.slash.base import CommandResult, Topic, YesNoQuestion, declare_command
from zkchat_cli.slash.lookups import last_answer
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sentences import first_sentence
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.edit.note_stamps import NoteStamps
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.knowledge_format import read_time, read_trust_fields
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES

YES = "--yes"
OKF = "--okf"
STALE_AFTER = "--stale-after"
# Digits of a number of days
MAX_DAY_DIGITS = 5
# Most characters of the question in the note
MAX_QUESTION = 2000
# Most characters of a file name; they have at most 240 bytes, and file systems allow 255
MAX_NAME = 60


class _SaveOptions(NamedTuple):
    """What was written behind /save: the path, and the options before or behind it."""

    path: str
    is_confirmed: bool = False
    is_okf: bool = False
    stale_after: datetime | None = None


def save(session: ZkChatSession, argument: str) -> CommandResult:
    """Save the last answer as a note; asks first (--yes: does not).

    Without a path, the note is named after the question. Citations become footnotes. Existing notes
    are never overwritten. --okf writes the Open Knowledge Format: what the note is based on, and
    whether its quotations are verified; --stale-after=DATE or =90d until when it may be trusted.
    """
    options = _read_options(argument, session.services.now)
    question, answer = last_answer(session)
    asked = question.content if question else ""
    path = _note_path(session, options.path, asked)
    verified = ""
    if options.is_okf:
        text, verified = _okf_note(session, path, asked[:MAX_QUESTION], answer, options)
    else:
        text = md.answer_note(
            asked[:MAX_QUESTION], answer, session.conversation.id, session.vault.link_name
        )
    change = session.vault.editor.create(path, text)
    [path] = change.paths

    def write() -> CommandResult:
        return CommandResult(_write_note(session, change, path) + verified)

    if options.is_confirmed:
        return write()
    command = f"/save {YES} {argument}".rstrip()
    return CommandResult(question=YesNoQuestion(f"Save the last answer as {path}?", write, command))


def _read_options(argument: str, now: Callable[[], str]) -> _SaveOptions:
    """The options at both ends of an argument; a path may have spaces."""
    words = argument.split(" ")
    options = _SaveOptions("")
    for end in (0, -1):
        while words:
            changed = _read_option(options, words[end], now)
            if changed is None:
                break
            options = changed
            words.pop(end)
    return options._replace(path=" ".join(words).strip())


def _read_option(options: _SaveOptions, word: str, now: Callable[[], str]) -> _SaveOptions | None:
    """The options with this one; None if the word is no option."""
    if word == YES:
        return options._replace(is_confirmed=True)
    if word == OKF:
        return options._replace(is_okf=True)
    if word.startswith(STALE_AFTER):
        time = _read_stale_after(word.removeprefix(STALE_AFTER).removeprefix("="), now)
        return options._replace(is_okf=True, stale_after=time)
    return None


def _read_stale_after(written: str, now: Callable[[], str]) -> datetime:
    days = written.removesuffix("d")
    if written.endswith("d") and days.isdecimal() and len(days) <= MAX_DAY_DIGITS:
        today = datetime.fromisoformat(now()).replace(microsecond=0)
        return today + timedelta(days=int(days))
    time = read_time(written)
    if time is None:
        raise UsageError(
            f"{truncate(written, 40) or 'nothing'} is no date for {STALE_AFTER}",
            f"Write {STALE_AFTER}=2027-01-31, or {STALE_AFTER}=90d for 90 days from now.",
        )
    return time


class _OkfNote(NamedTuple):
    """The text of a note in the Open Knowledge Format, and what to say of its verification."""

    text: str
    verified: str


def _okf_note(
    session: ZkChatSession,
    path: str,
    question: str,
    answer: ZkChatMessage,
    options: _SaveOptions,
) -> _OkfNote:
    """The answer, with a stamp if all of its quotations are in the notes as these are now."""
    vault = session.vault

    def source_state(source: str) -> okf.SourceState:
        text = vault.reader.read_if_there(source)
        stale_after = read_trust_fields(text).stale_after if text is not None else None
        return okf.SourceState(vault.reader.modified_at(source), stale_after)

    conversation = session.conversation.id
    text = okf.answer_note(question, answer, conversation, source_state, options.stale_after)
    quotations = verify_text(text, vault)
    failed = [each for each in quotations if each.found.verdict != "verified"]
    if not quotations:
        return _OkfNote(text, "; not verified: it quotes nothing")
    if failed:
        count = plural(len(quotations), "quotation")
        return _OkfNote(text, f"; not verified: {len(failed)} of {count} not in the notes")
    sources = [each.found.chunk.relative_path for each in quotations if each.found.chunk]
    at = session.services.now()
    stamped = NoteStamps.of(vault).stamped_text(path, text, len(quotations), sources, at)
    return _OkfNote(stamped, f"; {plural(len(quotations), 'quotation')} verified")


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


COMMAND = declare_command(save, Topic.CONVERSATION, order=90, argument="[--yes] [--okf] [path]")
