"""Commands that move within a conversation: back and forth, to other branches, and asking again."""

from collections.abc import Iterable
from contextlib import closing

from zkchat_cli.chat.branch_navigation import parse_turn_count
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.branch_tree import BranchSegment, BranchTree
from zkchat_cli.errors import UsageError
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.conversation_list import format_time
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_INDENT = 12
"""Levels of branches that are indented; deeper ones are listed at that level."""


def _undo(session: ZkChatSession, argument: str) -> CommandResult:
    undone = session.undo(parse_turn_count(argument))
    first = (undone.questions or undone.messages)[0].display_text
    more = f" and {len(undone.questions) - 1} more" if len(undone.questions) > 1 else ""
    end = f"The conversation now ends with turn {undone.turns}." if undone.turns else "The conversation is at its beginning."
    return CommandResult(f"Undone: “{truncate(first, 60)}”{more}. {end} /redo restores it.")


def _redo(session: ZkChatSession, argument: str) -> CommandResult:
    restored = session.redo(parse_turn_count(argument))
    last = (restored.questions or restored.messages)[-1].display_text
    return CommandResult(f"Restored. The conversation now ends with turn {restored.turns}: “{truncate(last, 60)}”")


def _retry(session: ZkChatSession) -> CommandResult:
    question = next((message for message in reversed(session.history) if message.role == "user"), None)
    if question is None:
        raise UsageError("there is no question to retry", "Ask something first.")
    return CommandResult(turn=session.ask_again(question))


def _edit(session: ZkChatSession, argument: str) -> CommandResult:
    number, text = (*argument.split(maxsplit=1), "", "")[:2]
    question = base.find_question(session, number)
    if not text:
        return CommandResult(input_text=f"/edit {question.turn} {question.message.content}")
    if text == question.message.content:
        raise UsageError("the question is unchanged", "Change it, or use /retry for another answer.")
    return CommandResult(turn=session.ask_again(question.message, text))


def _branches(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        branch = session.switch_branch(argument)
        opening = truncate(branch.first_question.display_text, 60)
        return CommandResult(f"Switched to branch {branch.leaf_number}, which ends with turn {branch.turns[1]}: “{opening}”")
    return CommandResult(lines=list(_tree_lines(session)), paged=True)


def _tree_lines(session: ZkChatSession) -> Iterable[StyledLine]:
    tree = session.branches()
    if not tree:
        yield styled_line("No messages yet.")
        return
    turns = sum(message.role == "user" for message in session.history)
    if not session.history:
        yield styled_line("→ at the beginning: the next message starts a new branch")
    for segment in tree:
        yield _segment_line(segment, turns)
    if sum(segment.leaf_number is not None for segment in tree) > 1:
        yield styled_line("/branches N switches to the end of a branch.", "dim")


def _segment_line(segment: BranchSegment, turns: int) -> StyledLine:
    first, last = segment.turns
    which = f"turn {first}" if first == last else f"turns {first}-{last}"
    position = f", you are after turn {turns}" if segment.contains_head and turns < last else ""
    style = "bold" if segment.on_current_branch else ""
    number = "·" if segment.leaf_number is None else str(segment.leaf_number)
    prefix = f"{'→' if segment.contains_head else ' '} {'  ' * min(segment.depth, MAX_INDENT)}{number:<2} "
    return StyledLine(
        (
            StyledSpan(prefix, style),
            StyledSpan(f"{which}{position}  ", "dim"),
            StyledSpan(f"“{truncate(segment.first_question.display_text, 60)}”", style),
        ),
        (StyledSpan(format_time(segment.last.timestamp), "dim"),),
    )


def _branch_numbers(session: ZkChatSession) -> list[str]:
    if not session.history:
        return []
    with closing(session.store.reopen()) as store:  # completion has its own thread
        log = store.log(session.conversation.id)
    branches = [segment for segment in BranchTree(log).segments(None) if segment.leaf_number is not None]
    return [CompletionValue(str(branch.leaf_number), truncate(branch.first_question.display_text, 60)) for branch in branches]


def _clear(session: ZkChatSession) -> CommandResult:
    cleared = session.clear()
    if not cleared.messages:
        return CommandResult("The context is already empty.")
    count = len(cleared.questions)
    turns = "1 turn stays in the log but is" if count == 1 else f"{count} turns stay in the log but are"
    return CommandResult(f"Context cleared: {turns} no longer sent. /redo brings {'it' if count == 1 else 'them'} back.")


COMMANDS = (
    SlashCommand(
        "undo",
        "undo the last turn, or the last N",
        _undo,
        "[N]",
        details="The question and its answer leave the prompt. They stay in the log, and /redo or /branches goes back to them. Changes to "
        "notes are not undone.",
    ),
    SlashCommand(
        "redo",
        "restore what was undone or cleared",
        _redo,
        "[N]",
        details="It works in a later session too: each /redo then moves one turn forward, toward the newest message.",
    ),
    SlashCommand(
        "retry",
        "ask the last question again",
        lambda session, _: _retry(session),
        details="The previous answer stays: /branches goes back to it.",
    ),
    SlashCommand(
        "edit",
        "edit question N and ask it again; without text, puts it into the input line",
        _edit,
        "[N [new text]]",
        base.complete_questions,
        "The conversation continues from there on a new branch. The default is the last question; /pin lists the numbers.",
    ),
    SlashCommand(
        "continue",
        "continue an answer that was cut off or stopped",
        lambda session, _: CommandResult(turn=session.continue_answer()),
    ),
    SlashCommand(
        "branches",
        "show all branches of this conversation; N switches to one",
        _branches,
        "[N]",
        _branch_numbers,
        "A branch begins where you retried or edited a question, or asked another one after /undo. The arrow marks where you are.",
    ),
    SlashCommand(
        "clear",
        "clear the context of this conversation; the log stays",
        lambda session, _: _clear(session),
        details="Cleared messages can still be recalled and searched, and /redo or /branches restores them. "
        "/new starts another conversation.",
    ),
)
