"""/priority: how much a turn matters, from 1 to 10; by rules unless the user says so."""

from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand

BY_RULE = "auto"


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    which, _, last = argument.rpartition(" ")
    if not which:
        which, last = argument, ""
    if last.isalpha() and last.lower() != BY_RULE:  # `last answer` asks for nothing to be set
        which, last = argument, ""
    if not last:
        found = pins.resolve_turn(session.history, which)
    else:
        found = session.set_priority(which, None if last.lower() == BY_RULE else _number(last))
    return CommandResult("\n".join(f"turn {each.turn}, {each.part}: {pins.because(each.message)}" for each in found))


def _number(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
    if not 1 <= number <= 10:
        raise UsageError(f"{text!r} is no priority", f"/priority N P: P from 1 to 10, where 10 matters most, or `{BY_RULE}` for the rules.")
    return number


def _turns(session: ZkChatSession) -> list[str]:
    return base.turns(pins.list_turn_parts(session.history))


COMMAND = SlashCommand(
    "priority",
    "how much turn N matters, 1 to 10, or `auto`; without P: what it is now",
    _run,
    "N [P]",
    _turns,
    more="From 8 on the turn is quoted with every message and shortened last. `auto`: by what was said, as decisions count more.",
)
