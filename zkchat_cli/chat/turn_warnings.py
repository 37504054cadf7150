"""The notices of a turn, collected for its report."""

from collections.abc import Generator
from contextlib import closing

from zkchat_cli import events
from zkchat_cli.models.reports import TurnWarning


def report_warnings(
    turn: Generator[events.Event, None, None],
) -> Generator[events.Event, None, None]:
    """The events of a turn; the report of a completed one has the turn's notices as its
    warnings.
    """
    warnings: list[TurnWarning] = []
    with closing(turn):
        for event in turn:
            match event:
                case events.Notice(message, hint):
                    warnings.append(TurnWarning(message=message, hint=hint))
                case events.TurnCompleted(report):
                    update = {"warnings": tuple(warnings)}
                    event = events.TurnCompleted(report.model_copy(update=update))
            yield event
