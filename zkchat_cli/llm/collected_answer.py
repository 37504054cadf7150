"""Single model calls that return the whole answer."""

import logging
from collections.abc import Generator
from contextlib import closing
from typing import NamedTuple

from zkchat_cli.events import Waiting
from zkchat_cli.llm.base import Model, Request, RetryDelay, StreamFailed, StreamFinished, TextPart
from zkchat_cli.models import TokenUsage
from zkchat_cli.text.words import replace_surrogates

_log = logging.getLogger(__name__)


class CollectedAnswer(NamedTuple):
    """An answer; `problem` says in a few words why there is none, or only a part."""

    text: str = ""
    usage: TokenUsage | None = None
    problem: str | None = None


def collect(model: Model, request: Request) -> Generator[Waiting, None, CollectedAnswer]:
    """Make the call and return its whole answer; yields only why it is made again. Closing it ends the call."""
    text = ""
    with closing(model.stream(request)) as stream:
        for delta in stream:
            match delta:
                case TextPart(more):
                    text += replace_surrogates(more)
                case RetryDelay(seconds, reason):
                    yield Waiting(seconds, replace_surrogates(reason))
                case StreamFinished(reason, usage):
                    problem = f"the answer was not finished ({reason})" if reason in ("length", "content_filter", "cancelled") else None
                    return CollectedAnswer(text, usage, problem or (None if text.strip() else "the model's answer was empty"))
                case StreamFailed(error):
                    _log.info("%s failed: %s: %s", model.name, error.kind, error.message)
                    return CollectedAnswer(text, problem=error.message)
                case _:
                    pass
    return CollectedAnswer(text, problem="the stream broke off")
