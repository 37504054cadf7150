"""Learning how a model counts tokens, from what its provider reports for whole prompts."""

from typing import TYPE_CHECKING, NamedTuple

# Imported only for types: pydantic must not load for `zkchat tokens --help`
if TYPE_CHECKING:
    from zkchat_cli.models.prompts import Calibration

# A factor that sinks approaches the mean of about this many measurements
CALLS = 10
# Fewest tokens of text that show how a model counts: with fewer, the tokens of its template would
# matter too much
MIN_TEXT = 100
# Factors outside of these limits are taken for a mistake
MIN_FACTOR = 0.5
MAX_FACTOR = 5.0


class CountedPrompt(NamedTuple):
    """The tokens of one prompt, by two counts.

    zkchat counts texts and descriptions of tools without calibration; the model counts both
    together. No number includes the fixed cost of a message.
    """

    text: float
    tools: float
    counted: float


def learn_calibration(
    known: "Calibration", prompt: CountedPrompt, before: CountedPrompt | None = None
) -> "Calibration":
    """The calibration after another prompt has been counted; `before` is the prompt of the turn's
    previous call.

    If a count is too small, the prompt does not fit; if it is too large, room is wasted. So a
    factor rises at once and sinks slowly, and only after calls that show it: the factor of texts
    after calls without tools, or by what the next call of a turn adds; that of descriptions of
    tools once the factor of texts is known. A template that leaves tools out, or a server that
    counts only what was not in its cache, must not make texts look smaller than they are.
    """
    if prompt.text < MIN_TEXT or not _is_possible(prompt.counted / (prompt.text + prompt.tools)):
        return known
    if not prompt.tools:
        return _with_text(known, prompt.counted / prompt.text)
    if before is not None and before.tools == prompt.tools:
        new_text = prompt.text - before.text
        if new_text >= MIN_TEXT:
            known = _with_text(known, (prompt.counted - before.counted) / new_text)
    expected = known.text * prompt.text + known.tool_factor * prompt.tools
    if prompt.counted > expected:
        share = prompt.counted / expected
        return known.model_copy(
            update={"text": known.text * share, "tools": known.tool_factor * share}
        )
    if not known.calls:
        return known
    tools = (prompt.counted - known.text * prompt.text) / prompt.tools
    return known.model_copy(update={"tools": max(0.0, tools)})


def _is_possible(factor: float) -> bool:
    return MIN_FACTOR <= factor <= MAX_FACTOR


def _with_text(known: "Calibration", factor: float) -> "Calibration":
    """The calibration after another measurement of the factor of texts."""
    if not _is_possible(factor):
        return known
    weight = min(known.calls, CALLS - 1)
    mean = (known.text * weight + factor) / (weight + 1)
    return known.model_copy(update={"text": max(factor, mean), "calls": known.calls + 1})
