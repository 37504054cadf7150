"""Commands that take text out of a conversation: to the clipboard, into a note, into a file."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

from zkchat_cli import exporters
from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import StoreError, UsageError, reason
from zkchat_cli.markdown.blocks import code_blocks
from zkchat_cli.references import provenance
from zkchat_cli.slash.base import CommandResult, Confirm, SlashCommand
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.vault import Vault
from zkchat_cli.views import answer_note

CODE, ALL = "code", "all"
YES = "--yes"


def _copy(session: ZkChatSession, argument: str) -> CommandResult:
    if argument == ALL:
        return CommandResult(clipboard=exporters.exporter("md").export(session.store.archive(session.conversation.id)))
    word, _, turn = argument.partition(" ")
    turn = turn.strip() if word == CODE else argument
    parts = pins.resolve_turn(session.history, f"{turn} answer") if turn else pins.list_turn_parts(session.history)
    answers = [each.message.content for each in parts if each.part == "answer"]
    if not answers:
        raise UsageError("there is no answer to copy yet", "Ask something first.")
    if word != CODE:
        return CommandResult(clipboard=answers[-1])
    blocks = [block for answer in answers for block in code_blocks(answer)]
    if not blocks:
        raise UsageError("that answer has no code block" if turn else "no answer has a code block", "/copy copies a whole answer.")
    return CommandResult(clipboard=blocks[-1])


def _copyable(session: ZkChatSession) -> list[str]:
    turns = [str(each.turn) for each in pins.list_turn_parts(session.history) if each.part == "answer"]
    return [CODE, ALL, *dict.fromkeys(reversed(turns))]


def _save(session: ZkChatSession, argument: str) -> CommandResult:
    """Make the note and ask. Links to the sources replace the citation marks."""
    words = argument.split(" ")
    confirmed = YES in (words[0], words[-1])
    requested = " ".join(words[1:] if words[0] == YES else words[:-1] if confirmed else words).strip()
    last = provenance.last_exchange(session.history)
    if last is None:
        raise UsageError("there is no answer to save yet", "Ask something first.")
    question = last.question.content if last.question else ""
    vault, answer = session.vault, last.answer
    note = answer_note.AnswerNote(question, answer.content, answer.citations, answer.model, answer.timestamp, session.conversation.id)
    change = vault.editor.create(_note_path(vault, requested, question), answer_note.note_text(note, partial(_link_name, vault)))
    [path] = change.paths
    save = partial(_save_note, session, replace(change, summary=f"save {path}"))
    if confirmed:
        return save()
    return CommandResult(confirm=Confirm(f"Save the last answer as {path}?", save, f"/save {YES} {requested}".rstrip()))


def _note_path(vault: Vault, requested: str, question: str) -> str:
    """The path for the note: as given, plus `.md`; for a folder (`Answers/`) or no path, a name made from the question."""
    requested = replace_surrogates(requested)
    if requested and not requested.endswith("/"):
        return requested if requested.lower().endswith(NOTE_SUFFIXES) else requested + ".md"
    return requested + answer_note.file_name(question, lambda name: os.path.lexists(vault.root / requested / name))


def _save_note(session: ZkChatSession, change: Change) -> CommandResult:
    applied = session.vault.editor.apply(change)
    if applied.interrupted:
        raise KeyboardInterrupt
    if applied.report is not None:
        session.apply_scan(applied.report)
    [path] = change.paths
    ignored = "" if path in session.vault.note_paths() else "; it is not indexed: vault.ignore excludes it"
    return CommandResult(f"Saved as {path}{ignored}")


def _link_name(vault: Vault, relative_path: str) -> str:
    """The name for a link to a note: its file name if that is unambiguous, else its path."""
    path = PurePosixPath(relative_path)
    if path.suffix.lower() != NOTE_SUFFIXES[0]:
        return relative_path
    link = vault.resolve(path.stem)
    unambiguous = link.status == "found" and link.target == relative_path
    return path.stem if unambiguous else str(path.with_suffix(""))


def _export(session: ZkChatSession, argument: str) -> CommandResult:
    if not session.history:
        raise UsageError("there is nothing to export yet", "Ask something first.")
    format_, _, name = argument.partition(" ")
    exporter = exporters.exporter(format_ or "md")
    file = Path(name.strip() or f"zkchat-{session.conversation.id}{exporter.suffix}")
    if exporter.of == "call":
        text = exporter.export(session.request())
    else:
        text = exporter.export(session.store.archive(session.conversation.id, prompts=exporter.prompts))
    try:
        file = file.expanduser()
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as e:
        raise UsageError(f"{file} already exists", "Give another name: /export md other.md") from e
    except (OSError, ValueError, RuntimeError) as e:  # a name with a NUL; `~nobody/…`
        raise StoreError(f"{file} cannot be written: {reason(e)}", "Give another path: /export md PATH") from e
    return CommandResult(f"Exported to {file}")


COMMANDS = (
    SlashCommand(
        "copy",
        "copy the last answer; or answer N, the last code block, everything",
        _copy,
        "[N | code [N] | all]",
        _copyable,
        "`all` is the conversation as Markdown. It uses the terminal's clipboard (OSC 52, which works over ssh) and the system's; a piped "
        "chat prints the text.",
    ),
    SlashCommand(
        "save",
        "save the last answer as a note; asks first (--yes: does not)",
        _save,
        "[--yes] [path]",
        details="Without a path, the note is named after the question. Citations become links. Existing notes are never overwritten.",
    ),
    SlashCommand(
        "export",
        "export the conversation to a file",
        _export,
        "[md|html|json|context] [file]",
        lambda _: exporters.names(),
        "The default file is named after the conversation, in the current folder. Existing files are never overwritten.",
    ),
)
