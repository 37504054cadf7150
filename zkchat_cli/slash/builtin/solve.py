"""Works on a goal in steps."""

from zkchat_cli.chat.problem_solver import IterativeProblemSolver
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, Topic, declare_command
from zkchat_cli.views.solver_steps import (
    finished_step_line,
    outcome_line,
    single_answer_text,
)
from zkchat_cli.views.text import StyledLine, styled_line


def solve(session: ZkChatSession, argument: str) -> CommandResult:
    """Work on a goal in steps, until the model says DONE or FAIL.

    Each step is a turn of this conversation, with its cost and the budget bar below it; there are
    at most as many as the setting chat.iterations says. Ctrl-C ends the work, and all answers stay.
    """
    limit = session.runtime.settings.chat.iterations
    solver = IterativeProblemSolver(session, argument, limit)
    if not solver.works_in_steps:
        lines = [styled_line(single_answer_text(solver), "yellow")]
        return CommandResult(lines=lines, turn=solver.run_step())
    return _next_step(session, solver, [])


def _next_step(
    session: ZkChatSession, solver: IterativeProblemSolver, lines: list[StyledLine]
) -> CommandResult:
    """Show these lines and run a step; then its cost, and the next step or how the work ended."""

    def after_step() -> CommandResult:
        costs = session.runtime.settings.context.show_token_count
        done = finished_step_line(solver, session.usage if costs else None)
        if solver.outcome is None:
            return _next_step(session, solver, [done])
        return CommandResult(lines=[done, outcome_line(solver, "/solve GOAL", costs=costs)])

    return CommandResult(lines=lines, turn=solver.run_step(), then=after_step)


COMMAND = declare_command(solve, Topic.CONVERSATION, order=55, argument="GOAL")
