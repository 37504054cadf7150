"""/priority: how important a turn is, from 1 to 10; rules decide unless the user does."""

from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand

AUTO = "auto"


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    which, _, priority = argument.rpartition(" ")
    if not which or (priority.isalpha() and priority.lower() != AUTO):  # `3`, `last answer`: no priority given
        which, priority = argument, ""
    if not priority:
        parts = pins.resolve_turn(session.history, which)
    else:
        parts = session.set_priority(which, None if priority.lower() == AUTO else _parse_priority(priority))
    return CommandResult("\n".join(f"turn {each.turn}, {each.part}: {pins.priority_reason(each.message)}" for each in parts))


def _parse_priority(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
    if not 1 <= number <= 10:
        raise UsageError(f"{text!r} is not a priority", f"/priority N P: P is 1 to 10 (10 is the most important), or `{AUTO}`.")
    return number


COMMAND = SlashCommand(
    "priority",
    "set the priority of turn N, 1 to 10 or auto; without P, show it",
    _run,
    "N [P]",
    lambda session: base.complete_turns(pins.list_turn_parts(session.history)),
    details="From 8 on, a turn is quoted with every message and shortened last. `auto` uses rules: decisions, for example, rank higher.",
)
