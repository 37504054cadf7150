"""/pin: include turn N in every prompt; without N, list the pinned and the last turns.

A turn is a question with its answer, counted from 1. Pinned turns are sent word for word and never summarized; /unpin N removes the pin.
"""

from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Lines, complete_turns, opening, slash_command
from zkchat_cli.views.text import styled_line

MAX_TURNS = 8  # the last turns, which `/pin` lists with their numbers


@slash_command("[N | last]", lambda session: {pins.LAST: "", **complete_turns(pins.list_turn_parts(session.history))})
def run(session: ZkChatSession, argument: str) -> str | Lines:
    counter, history = session.runtime.counter, session.history
    if argument:
        pinned = pins.pin(session.stored_state(), argument)
        tokens = sum(counter.count(each.message.content) for each in pinned)
        which = f"turn {pinned[0].turn}, {' and '.join(each.part for each in pinned)}"
        return f"Pinned {which}: {tokens:,} tokens in every prompt. /unpin {pinned[0].turn} removes them."
    pinned, parts = pins.pinned_parts(history), pins.list_turn_parts(history)
    if not parts:
        return "No messages yet."
    rows = [(each, ", pinned" if each.message.pinned else ", an instruction") for each in pinned]
    rows += [(each, "") for each in parts if each.turn > parts[-1].turn - MAX_TURNS]
    lines = [
        styled_line(
            f"{part.turn:>4} {part.part:<8} {counter.count(part.message.content):>6,} tokens{reason}: {opening(part.message)}", indent=5
        )
        for part, reason in rows
    ]
    first = "In every prompt, word for word:" if pinned else "Nothing is pinned, and no message is a lasting instruction."
    return [styled_line(first), *lines[: len(pinned)], styled_line("The last turns:"), *lines[len(pinned) :]]
