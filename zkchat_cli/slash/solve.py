"""/solve: work on a goal in several rounds, until it is met; alone, go on with the unfinished one."""

import re

from zkchat_cli.errors import UsageError
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand
from zkchat_cli.solving import ITERATIONS, solve

_OPTION = re.compile(r"--iterations(?:=|\s+)(\S+)\s*")


def _run(session: ZkChatSession, argument: str) -> Outcome:
    iterations = ITERATIONS
    if option := _OPTION.match(argument):
        if not option[1].isdecimal() or len(option[1]) > 4:
            raise UsageError(f"--iterations {option[1]:.40} is no number", f"Say /solve --iterations {ITERATIONS} GOAL")
        iterations, argument = int(option[1]), argument[option.end() :]
    return Outcome(turn=solve(session, argument, iterations))


COMMAND = SlashCommand(
    "solve",
    "work on a goal in several rounds, until it is met; alone: go on with it",
    _run,
    "[--iterations N] [GOAL]",
    more="Each round plans, calls tools and checks; Ctrl-C ends the run and keeps what came. Without a number there are up to five rounds.",
)
