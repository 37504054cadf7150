"""/solve: work on a goal in several iterations until it is met; without a goal, continue the unfinished run."""

import re

from zkchat_cli.chat.agent_run import ITERATIONS, run_goal
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand

_OPTION = re.compile(r"--iterations(?:=|\s+)(\S+)\s*")


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    iterations = ITERATIONS
    if option := _OPTION.match(argument):
        if not option[1].isdecimal() or len(option[1]) > 4:
            raise UsageError(f"--iterations {option[1]:.40} is not a number", f"/solve --iterations {ITERATIONS} GOAL")
        iterations, argument = int(option[1]), argument[option.end() :]
    return CommandResult(turn=run_goal(session, argument, iterations))


COMMANDS = (
    SlashCommand(
        "solve",
        "work on a goal in several iterations; without a goal, continue the last run",
        _run,
        "[--iterations N] [GOAL]",
        details="Each iteration plans, calls tools and checks the result. Ctrl-C stops the run and keeps the work. The default limit is 5.",
    ),
)
