"""Commands that change this conversation, keep some of it, or switch to another."""

import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

from zkchat_cli import exporters
from zkchat_cli.chat import numbered_turns
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import StoreError, UsageError, reason
from zkchat_cli.exporters import md
from zkchat_cli.fileio import make_private_folder, write_new_file
from zkchat_cli.markdown.blocks import code_blocks
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.slash.base import (
    CommandResult,
    YesNoQuestion,
    complete_questions,
    find_question,
    last_answer,
    opening,
    slash_command,
)
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.text.numbers import parse_number, plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.views import stored_items
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

CODE = "code"
ALL = "all"
YES = "--yes"
MAX_QUESTION = 2000
MAX_SHOWN = 20  # messages that /sessions finds
# Characters, at most 240 bytes: file systems allow 255
MAX_NAME = 60
_END = re.compile(r"[?!。？！\n]|\.\s")


@slash_command("[N]")
def undo(session: ZkChatSession, argument: str) -> str:
    """Undo the last turn, or the last N.

    The question and its answer leave the prompt. They stay in the log, and /redo or /branches goes
    back to them. Changes to notes are not undone.
    """
    state = session.stored_state()
    count = _parse_turn_count(argument)
    before = session.history
    if not before:
        raise UsageError(
            "there is nothing to undo",
            "/redo goes forward again." if state.can_redo else "Ask something first.",
        )
    starts = [at for at, message in enumerate(before) if message.role == "user"]
    begin = starts[-count] if count <= len(starts) else 0
    state.undo_to(before[begin - 1].id if begin else None)
    undone = before[begin:]
    turns = len(_questions(before[:begin]))
    questions = _questions(undone)
    more = f" and {len(questions) - 1} more" if len(questions) > 1 else ""
    end = (
        f"The conversation now ends with turn {turns}."
        if turns
        else "The conversation is at its beginning."
    )
    return f"Undone: “{opening((questions or undone)[0])}”{more}. {end} /redo restores it."


@slash_command("[N]")
def redo(session: ZkChatSession, argument: str) -> str:
    """Restore what was undone or cleared.

    It works until the next message or the end of the chat; later, /branches goes back to it."""
    state = session.stored_state()
    count = _parse_turn_count(argument)
    before = len(session.history)
    if not state.can_redo:
        raise UsageError(
            "there is nothing to redo", "/branches shows all messages of this conversation."
        )
    state.redo(count)
    restored = session.history[before:]
    last = opening((_questions(restored) or restored)[-1])
    return (
        f"Restored. The conversation now ends with turn {len(_questions(session.history))}: "
        f"“{last}”"
    )


def _parse_turn_count(argument: str) -> int:
    """The number of turns in a command's argument; 1 when it is empty. Raises UsageError."""
    number = parse_number(argument or "1")
    if not number:
        raise UsageError(
            f"{argument[:40]!r} is not a number of turns", "Give a number, or nothing for one turn."
        )
    return number


def _questions(messages: Sequence[ZkChatMessage]) -> list[ZkChatMessage]:
    return [message for message in messages if message.role == "user"]


@slash_command()
def retry(session: ZkChatSession, _: str) -> CommandResult:
    """Ask the last question again.

    The previous answer stays: /branches goes back to it."""
    return CommandResult(turn=session.ask_again(find_question(session).message))


@slash_command("[N [new text]]", complete_questions)
def edit(session: ZkChatSession, argument: str) -> CommandResult:
    """Edit question N and ask it again; without text, puts it into the input line.

    The conversation continues from there on a new branch. The default is the last question; /pin
    lists the numbers.
    """
    number, text = (*argument.split(maxsplit=1), "", "")[:2]
    question = find_question(session, number)
    if not text:
        return CommandResult(input_text=f"/edit {question.turn} {question.message.content}")
    if text == question.message.content:
        raise UsageError(
            "the question is unchanged", "Change it, or use /retry for another answer."
        )
    return CommandResult(turn=session.ask_again(question.message, text))


@slash_command()
def continue_(session: ZkChatSession, _: str) -> CommandResult:
    """Continue an answer that was cut off or stopped."""
    return CommandResult(turn=session.continue_answer())


def _branch_numbers(session: ZkChatSession) -> dict[str, str]:
    if not session.is_stored:
        return {}
    with closing(session.store.reopen()) as store:  # completion has its own thread
        branches = numbered_turns.branch_segments(store.log(session.conversation.id), None)
    return {
        str(each.leaf_number): opening(each.first_question)
        for each in branches
        if each.leaf_number is not None
    }


@slash_command("[N]", _branch_numbers)
def branches(session: ZkChatSession, argument: str) -> str | list[StyledLine]:
    """Show all branches of this conversation; N switches to one.

    A branch begins where you retried or edited a question, or asked another one after /undo. The
    arrow marks where you are.
    """
    state = session.stored_state()
    segments = numbered_turns.branch_segments(state.log(), state.head)
    if argument:
        leaves = {segment.leaf_number: segment for segment in segments if segment.leaf_number}
        branch = leaves.get(parse_number(argument) or 0)
        if branch is None:
            hint = (
                f"Branches are numbered from 1 to {len(leaves)}; /branches shows them."
                if leaves
                else "Ask something first."
            )
            raise UsageError(f"there is no branch {argument[:40]}", hint)
        state.switch_to(branch.messages[-1].id)
        return (
            f"Switched to branch {branch.leaf_number}, up to turn {branch.turns[1]}: "
            f"“{opening(branch.first_question)}”"
        )
    lines: list[StyledLine] = []
    turns = len(_questions(session.history))
    for segment in segments:
        first, last = segment.turns
        which = f"turn {first}" if first == last else f"turns {first}-{last}"
        position = f", you are after turn {turns}" if segment.contains_head and turns < last else ""
        style = "bold" if segment.on_current_branch else ""
        prefix = (
            f"{'→' if segment.contains_head else ' '} "
            f"{'  ' * segment.depth}{segment.leaf_number or '·':<2} "
        )
        question = f"“{opening(segment.first_question)}”"
        left = (
            StyledSpan(prefix, style),
            StyledSpan(f"{which}{position}  ", "dim"),
            StyledSpan(question, style),
        )
        lines.append(
            StyledLine(
                left, (StyledSpan(stored_items.format_time(segment.messages[-1].timestamp), "dim"),)
            )
        )
    if lines and not session.history:
        lines.insert(0, styled_line("→ at the beginning: the next message starts a new branch"))
    return lines or "No messages yet."


@slash_command()
def clear(session: ZkChatSession, _: str) -> str:
    """Clear the context of this conversation; the log stays.

    Cleared messages can still be recalled and searched, and /redo or /branches restores them. /new
    starts another conversation.
    """
    state = session.stored_state()
    cleared = session.history
    if not cleared:
        return "The context is already empty."
    state.undo_to(None)
    return (
        f"Context cleared: {plural(len(_questions(cleared)), 'turn')} no longer sent. The log "
        "stays; /redo restores the context."
    )


@slash_command("[N | code [N] | all]", lambda session: [CODE, ALL, *complete_questions(session)])
def copy(session: ZkChatSession, argument: str) -> CommandResult:
    """Copy the last answer; or answer N, the last code block, everything.

    `all` is the conversation as Markdown. It uses the terminal's clipboard (OSC 52, which works
    over ssh) and the system's; a piped chat prints the text.
    """
    if argument == ALL and session.history:
        return CommandResult(clipboard=exporters.exporter("md").export(session.archive()))
    is_code = argument.split(" ")[0] == CODE
    turn = argument.removeprefix(CODE).strip() if is_code else argument
    parts = (
        numbered_turns.resolve_turn(session.history, f"{turn} answer")
        if turn
        else numbered_turns.list_turn_parts(session.history)
    )
    answers = [each.message.content for each in parts if each.part == "answer"]
    if not answers:
        raise UsageError("there is no answer to copy yet", "Ask something first.")
    if not is_code:
        return CommandResult(clipboard=answers[-1])
    blocks = [block for answer in answers for block in code_blocks(answer)]
    if not blocks:
        raise UsageError(
            "that answer has no code block" if turn else "no answer has a code block",
            "/copy copies a whole answer.",
        )
    return CommandResult(clipboard=blocks[-1])


@slash_command("[--yes] [path]")
def save(session: ZkChatSession, argument: str) -> CommandResult:
    """Save the last answer as a note; asks first (--yes: does not).

    Without a path, the note is named after the question. Citations become footnotes. Existing notes
    are never overwritten.
    """
    words = argument.split(" ")
    confirmed = YES in (words[0], words[-1])
    requested = " ".join(
        words[1:] if words[0] == YES else words[:-1] if confirmed else words
    ).strip()
    question, answer = last_answer(session)
    asked = question.content if question else ""
    vault = session.vault
    path = replace_surrogates(requested)
    # A folder (`Answers/`): a name made from the question
    if not path or path.endswith("/"):
        path += file_name(asked, lambda name: os.path.lexists(vault.root / path / name))
    elif not path.lower().endswith(NOTE_SUFFIXES):
        path += ".md"
    change = vault.editor.create(
        path, md.answer_note(asked[:MAX_QUESTION], answer, session.conversation.id, vault.link_name)
    )
    [path] = change.paths

    def write() -> CommandResult:
        if (report := vault.editor.apply(change._replace(summary=f"save {path}"))) is not None:
            session.apply_scan(report)
        ignored = (
            "" if path in vault.note_paths() else "; it is not indexed: vault.ignore excludes it"
        )
        return CommandResult(f"Saved as {path}{ignored}")

    if confirmed:
        return write()
    return CommandResult(
        question=YesNoQuestion(
            f"Save the last answer as {path}?", write, f"/save {YES} {requested}".rstrip()
        )
    )


def file_name(question: str, exists: Callable[[str], bool]) -> str:
    """A file name from the question's first sentence, valid on every file system and not
    `exists`.
    """
    sentence = next(filter(str.strip, _END.split(question, 5)), "")
    allowed = "".join(
        c if c.isalnum() or unicodedata.category(c).startswith("M") or c in "-_'’" else " "
        for c in sentence
    )
    words = truncate(allowed, MAX_NAME).rstrip("…").strip(" -_'’")
    name = words[:1].upper() + words[1:] or "Answer"
    candidates = (f"{name}.md" if n == 1 else f"{name} {n}.md" for n in count(1))
    return next(candidate for candidate in candidates if not exists(candidate))


@slash_command("TITLE")
def rename(session: ZkChatSession, argument: str) -> str:
    """Rename this conversation."""
    title = " ".join(replace_surrogates(argument).split())
    session.stored_state().rename(title)
    return f"Renamed to “{title}”."


@slash_command("[md|html|json|context] [file]", lambda _: exporters.names())
def export(session: ZkChatSession, argument: str) -> str:
    """Export the conversation to a file.

    The default file is named after the conversation. It is in the current folder, or below zkchat's
    data folder if the current folder is in a vault. Existing files are never overwritten.
    """
    format_, name = (*argument.split(maxsplit=1), "", "")[:2]
    exporter = exporters.exporter(format_ or "md")
    # A note in a vault that nobody asked for is found by search
    folder = session.services.documents_folder or Path()
    with suppress(FileNotFoundError):  # the current folder was deleted
        here = Path.cwd()
        if not any(
            each == session.vault.root or (each / ".obsidian").is_dir()
            for each in (here, *here.parents)
        ):
            folder = Path()
    file = Path(name) if name else folder / f"zkchat-{session.conversation.id}{exporter.suffix}"
    if exporter.of == "call":
        text = exporter.export(session.request())
    else:
        archive = session.archive(prompts=exporter.prompts)
        if not archive.messages:
            raise UsageError("there is nothing to export yet", "Ask something first.")
        text = exporter.export(archive)
        messages = list(archive.messages)
        del archive
        # Freed one by one: Python frees 40,000 at once without a pause, and `zkchat gui` stands
        # still for 0.1 s
        while messages:
            messages.pop()
    try:
        file = file.expanduser()
        if not name and file.is_absolute():
            make_private_folder(file.parent)
        write_new_file(file, text)
    except FileExistsError as e:
        raise UsageError(
            f"{file} already exists",
            f"Give another name: /export {format_ or 'md'} other{exporter.suffix}",
        ) from e
    except (OSError, ValueError, RuntimeError) as e:  # a name with a NUL; `~nobody/…`
        raise StoreError(
            f"{file} cannot be written: {reason(e)}",
            f"Give another path: /export {format_ or 'md'} PATH",
        ) from e
    return f"Exported to {file}"


@slash_command()
def new(session: ZkChatSession, _: str) -> CommandResult:
    """Start a new conversation."""
    id_ = session.conversation.id
    where = (
        f"is stored as {id_}"
        if session.store.persistent
        else f"({id_}) is lost when you quit: this chat is not stored"
    )
    previous = f" The previous one {where}." if session.history else ""
    return CommandResult(
        f"Started a new conversation.{previous}", session=session.open_conversation()
    )


@slash_command("[words]")
def sessions(session: ZkChatSession, argument: str) -> str | list[StyledLine]:
    """List conversations; words filter them.

    Words are searched in titles and messages. /resume switches to another conversation."""
    store = session.store
    vault = str(session.vault.root)
    known = store.conversations(vault, stored_items.MAX_LISTED)
    if not argument:
        return (
            stored_items.conversation_lines(known, session.conversation.id)
            or stored_items.NO_CONVERSATIONS
        )
    by_title = stored_items.filter_by_title(known, argument)
    messages = store.search(vault, argument, limit=MAX_SHOWN, tool_results=False)
    lines = [
        *stored_items.conversation_lines(by_title),
        *stored_items.search_result_lines(messages, argument),
    ]
    return lines or "No conversation contains these words."


def _others(session: ZkChatSession, store: ChatSessionStore) -> list[ConversationOverview]:
    known = store.conversations(str(session.vault.root), stored_items.MAX_LISTED)
    return [each for each in known if each.id != session.conversation.id]


def _titles_by_id(session: ZkChatSession) -> dict[str, str]:
    with closing(session.store.reopen()) as store:  # completion has its own thread
        return {each.id: stored_items.display_title(each) for each in _others(session, store)}


@slash_command("[N | ID]", _titles_by_id)
def resume(session: ZkChatSession, argument: str) -> CommandResult | str | list[StyledLine]:
    """Resume another conversation; without N or ID, list them."""
    others = _others(session, session.store)
    if not argument:
        lines = stored_items.conversation_lines(others)
        numbered = [
            StyledLine((StyledSpan(f"{n:>3}  "), *line.left), line.right)
            for n, line in enumerate(lines, 1)
        ]
        hint = styled_line("/resume N or /resume ID resumes one.", "dim")
        return [*numbered, hint] if numbered else "There is no other conversation with these notes."
    row = parse_number(argument)
    other = session.open_conversation(
        others[row - 1].id if row is not None and 1 <= row <= len(others) else argument
    )
    title = truncate(other.conversation.title or other.conversation.id, stored_items.MAX_TITLE)
    return CommandResult(f"Resumed “{title}” ({len(other.history)} messages).", session=other)
