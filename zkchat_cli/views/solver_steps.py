"""The work on a goal in steps, as lines: what each step cost, how full the window is after it, and
how the work ended.
"""

from zkchat_cli.chat.problem_solver import IterativeProblemSolver
from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.text import (
    BudgetBar,
    StyledLine,
    StyledSpan,
    short_count,
    styled_line,
    usage_text,
)

BAR_CELLS = 7


def finished_step_line(solver: IterativeProblemSolver, usage: ContextUsage | None) -> StyledLine:
    """The last finished step, its tokens, and the budget bar of the next prompt: `step 1 of 5 ·
    1.2k tokens in, 56 out   ███░░░░ 41% 12.1k / 29.5k`. Without `usage` there are no tokens.
    """
    step = f"step {len(solver.steps)} of {solver.limit}"
    if usage is None:
        return styled_line(step, "dim")
    cost = usage_text(solver.steps[-1].usage, short_count)
    bar = BudgetBar(usage.total_tokens, usage.effective_limit, BAR_CELLS, estimated=usage.estimated)
    figures = StyledSpan(f" {bar.percent} {bar.figures}", "dim")
    cells = StyledSpan(bar.bar, bar.color)
    return StyledLine((StyledSpan(f"{step} · {cost}", "dim"),), (cells, figures))


def single_answer_text(solver: IterativeProblemSolver) -> str:
    """Why there will be only one answer."""
    return f"{solver.model} quotes your notes and cannot work in steps: it answers once"


def outcome_text(solver: IterativeProblemSolver, command: str) -> str:
    """How the work ended: `Goal reached in 2 steps`. `command` continues it."""
    steps = plural(len(solver.steps), "step")
    match solver.outcome:
        case "done":
            return f"Goal reached in {steps}"
        case "failed":
            return f"The model gave up after {steps}; its last answer says why"
        case "unfinished":
            return f"Goal not reached in {steps}; {command} continues"
        case _:
            return ""


def outcome_line(solver: IterativeProblemSolver, command: str, *, costs: bool) -> StyledLine:
    """`outcome_text`, with the tokens of all steps."""
    text = outcome_text(solver, command)
    if costs:
        text += f" (together {usage_text(solver.usage, short_count)})"
    return styled_line(text, "green" if solver.outcome == "done" else "yellow")
