"""One call whose answer is wanted whole, not as it comes: a summary of a conversation."""

import logging
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

from zkchat_cli.llm.base import Model, Request, RetryDelay, StreamFailed, StreamFinished, TextPart
from zkchat_cli.models import TokenUsage
from zkchat_cli.text.words import replace_surrogates

_log = logging.getLogger(__name__)
LONGEST = 16
"""Characters an answer may have for each token it was asked to have at most; a model that goes on and on is left."""


@dataclass(frozen=True, slots=True)
class CollectedAnswer:
    """An answer; `problem` says, in a few words, why there is none or only a part of one."""

    text: str = ""
    usage: TokenUsage | None = None
    problem: str | None = None


def collect(model: Model, request: Request) -> Generator[RetryDelay, None, CollectedAnswer]:
    """Ask and return what was said; yields only that the model is waited for. Closing it ends the call."""
    said = ""
    with closing(model.stream(request)) as stream:
        for delta in stream:
            match delta:
                case TextPart(more):
                    said += replace_surrogates(more)
                    if len(said) > LONGEST * (request.options.max_output_tokens or len(said)):
                        return CollectedAnswer(said, problem="the summary had no end")
                case RetryDelay():
                    yield delta
                case StreamFinished(reason, usage):
                    problem = f"the summary was not finished ({reason})" if reason in ("length", "content_filter", "cancelled") else None
                    return CollectedAnswer(said, usage, problem or (None if said.strip() else "the model answered with nothing"))
                case StreamFailed(error):
                    _log.info("%s did not summarise: %s: %s", model.name, error.kind, error.message)
                    return CollectedAnswer(said, problem=error.message)
                case _:
                    pass
    return CollectedAnswer(said, problem="the stream broke off")
