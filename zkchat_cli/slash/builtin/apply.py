"""Makes the change of notes that the last answer proposes."""

import json
from collections.abc import Sequence

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.markdown.proposed_edits import ProposedEdit, proposed_edits
from zkchat_cli.slash.base import ChangeProposal, CommandResult, Topic, declare_command
from zkchat_cli.slash.lookups import last_answer
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.edit.approval import Decision, approve_notes, mark_memory_file
from zkchat_cli.vault.edit.transaction import Change, FileChange
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES

YES = "--yes"
MAX_NAME = 100
# Notes of a change that are named
MOST_NAMED = 5
_FORMS = (
    "It needs a block ```diff, or one with the whole text of the note; ask for it: "
    "“Show the change as a diff.”"
)


def apply(session: ZkChatSession, argument: str) -> CommandResult:
    """Make the change of notes that the last answer proposes; shows it and asks (--yes: does not).

    The answer has a fenced diff, blocks to search and replace, or the whole text of a note. NOTE
    says which note, if the answer does not; NOTE#Heading takes the text for that section. /undo
    notes takes it back.
    """
    words = argument.split()
    is_confirmed = YES in words
    name = " ".join(word for word in words if word != YES)
    _, answer = last_answer(session)
    change = _propose(session, name, proposed_edits(answer.content))
    memory_file = session.memory.memory_paths.first_among(change.paths)
    change = mark_memory_file(change, memory_file)

    def decide(decision: Decision) -> CommandResult:
        return CommandResult(_make(session, change, decision))

    if is_confirmed:
        decision = approve_notes(change)
        if not decision.allowed:
            raise VaultError(decision.reason, f"/apply {name} asks.".replace("  ", " "))
        return decide(decision)
    command = f"/apply {YES} {name}".rstrip()
    return CommandResult(proposal=ChangeProposal(change, decide, command))


def _propose(session: ZkChatSession, name: str, edits: Sequence[ProposedEdit]) -> Change:
    """The change of all notes that the answer has edits for, or of the note with this name."""
    if not edits:
        raise UsageError("the last answer proposes no change of a note", _FORMS)
    if name:
        return _propose_for(session, name, edits)
    named = [edit for edit in edits if edit.name]
    if not named:
        raise UsageError("the answer names no note to change", "Name it: /apply NOTE")
    files: list[FileChange] = []
    for note in dict.fromkeys(edit.name for edit in named):
        own = [edit for edit in named if edit.name == note]
        files += _change_note(session, note, own).files
    paths = ", ".join(file.new_path for file in files)
    return Change(f"apply the answer to {paths}", tuple(files))


def _propose_for(session: ZkChatSession, name: str, edits: Sequence[ProposedEdit]) -> Change:
    """The change of one note: by the edits that name it, else by those that name none."""
    path = _find_note(session, name)
    own = [edit for edit in edits if edit.name and _find_note(session, edit.name) == path]
    usable = own or [edit for edit in edits if not edit.name]
    if not usable:
        others = ", ".join(dict.fromkeys(truncate(edit.name, MAX_NAME) for edit in edits))
        raise UsageError(
            f"the answer proposes no change of {truncate(name, MAX_NAME)}", f"It names {others}."
        )
    return _change_note(session, name, usable)


def _find_note(session: ZkChatSession, name: str) -> str | None:
    """The path of a note; None if there is none."""
    try:
        return session.vault.find_file(name) or session.vault.locate(name).path
    except VaultError:
        return None


def _change_note(session: ZkChatSession, name: str, edits: Sequence[ProposedEdit]) -> Change:
    """The change of one note by these edits: all hunks, or the last text. A name that ends with
    `.md` may be that of a new note.
    """
    editor = session.vault.editor
    hunks = [hunk for edit in edits for hunk in edit.hunks]
    texts = [edit.text for edit in edits if edit.text is not None]
    is_new = name.lower().endswith(NOTE_SUFFIXES) and _find_note(session, name) is None
    if is_new:
        added = "\n".join(line for hunk in hunks for line in hunk.new)
        return editor.create(name, texts[-1] if texts else added)
    path, heading = session.vault.locate(name)
    if hunks:
        return editor.apply_hunks(path, hunks)
    if heading:
        return editor.edit_section(path, heading, texts[-1])
    return editor.replace_text(path, texts[-1])


def _make(session: ZkChatSession, change: Change, decision: Decision) -> str:
    """Make what was approved, tell the model, and say what was made."""
    if not decision.allowed:
        session.state.remarks.add(f"[/apply: {decision.reason}]")
        return decision.reason[:1].upper() + decision.reason[1:]
    made = decision.change_to_make(change)
    report = session.vault.editor.apply(made)
    if report is not None:
        session.apply_scan(report)
    names = ", ".join(file.new_path for file in made.files[:MOST_NAMED])
    if len(made.files) > MOST_NAMED:
        names = plural(len(made.files), "note")
    part = f" ({decision.told})" if decision.told else ""
    session.state.remarks.add(_remark(made, decision))
    return f"Changed {names}{part}; /undo notes takes it back."


def _remark(made: Change, decision: Decision) -> str:
    """What the model is told: `[/apply: Plan.md was changed as you proposed]`, or, of a part, the
    hunks that were taken, edited and declined.
    """
    paths = ", ".join(file.new_path for file in made.files[:MOST_NAMED])
    if len(made.files) > MOST_NAMED:
        paths += f" and {len(made.files) - MOST_NAMED} more"
    was = "was" if len(made.files) == 1 else "were"
    if not decision.told:
        return f"[/apply: {paths} {was} changed as you proposed]"
    report = json.dumps(dict(decision.report), ensure_ascii=False)
    return f"[/apply: {paths} {was} changed, {decision.told}: {report}]"


def _note_names(session: ZkChatSession) -> Sequence[str]:
    return list(session.vault.note_paths())


COMMAND = declare_command(
    apply, Topic.CONVERSATION, order=95, argument="[--yes] [NOTE]", values=_note_names
)
