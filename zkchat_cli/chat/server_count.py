"""What the counts of a model's server teach about a prompt: whether it fits, and how the model
counts.
"""

import json
from collections.abc import Iterator

from zkchat_cli import events
from zkchat_cli.chat.turn import TurnInProgress
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Request, Window
from zkchat_cli.models.prompts import Prompt, PromptMessage
from zkchat_cli.references.image_files import ImageFiles
from zkchat_cli.tokens.calibration import CountedPrompt, learn_calibration

# Tokens of a prompt, without its tools, that every server has room for
MIN_CUT = 2000
# Share of our own count below which the server must have cut the prompt: no model's tokens are
# twice as long as ours
MOST_LEFT = 0.5
# Share of a refused prompt that is sent the second time, if the server does not tell its limit
RETRY_SHARE = 0.7
# Bytes that a server may add to a message for its role and delimiters
MESSAGE_FRAME = 16


def prompt_request(turn: TurnInProgress, prompt: Prompt, images: ImageFiles) -> Request:
    """The request for an answer to a prompt of this turn, with the bytes of its pictures."""
    runtime = turn.runtime
    messages: list[PromptMessage] = []
    for message in prompt.messages:
        if message.images:
            loaded = tuple(map(images.load, message.images))
            message = message.model_copy(update={"images": loaded})
        messages.append(message)
    return Request(tuple(messages), prompt.tools, runtime.options, runtime.window.tokens)


def count_by_server(turn: TurnInProgress, prompt: Prompt, images: ImageFiles) -> int | None:
    """The server's count of the tokens in a prompt that may be too long.

    None if zkchat's own count is exact, if the prompt cannot be too long (no token is shorter than
    a byte), or if the server does not count.
    """
    model = turn.runtime.model
    if model.exact or _largest_count(prompt) <= prompt.usage.effective_limit:
        return None
    with turn.timer("model"):
        return model.count_tokens(prompt_request(turn, prompt, images))


def _largest_count(prompt: Prompt) -> int:
    """The most tokens that a prompt can have: one for each byte."""
    texts = [message.content for message in prompt.messages]
    for message in prompt.messages:
        texts += [json.dumps(call.arguments) for call in message.tool_calls]
    texts += [json.dumps(tool.descriptor) for tool in prompt.tools]
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    image_tokens = prompt.usage.components["images"]
    return size + image_tokens + MESSAGE_FRAME * len(prompt.messages)


def learn_count(turn: TurnInProgress, prompt: Prompt, by_model: int) -> CountedPrompt:
    """Adjust the calibration so that this prompt has `by_model` tokens, if zkchat counted fewer.

    Returns both counts.
    """
    counter = turn.runtime.counter
    usage = prompt.usage
    overhead = usage.components["overhead"]
    tools = 0
    for tool in prompt.tools:
        tools += counter.count_raw(json.dumps(tool.descriptor, ensure_ascii=False))
    images = usage.components["images"]
    text = (usage.total_tokens - usage.tool_tokens - images - overhead) / usage.calibration
    counted = CountedPrompt(text, tools, by_model - images - overhead)
    # What a server says of an estimate by characters, or of pictures, must not calibrate later
    # counts of text
    if counter.problem is None and not images:
        turn.learn(learn_calibration(turn.calibration, counted, turn.counted))
    return counted


def assume_smaller_window(turn: TurnInProgress, refusal: ProviderError) -> None:
    """Assume the window that the server tells in a refusal, or one smaller than the refused
    prompt.
    """
    # The server's answer has imported this module already
    from zkchat_cli.llm.server_errors import parse_length_refusal

    assert turn.prompt is not None
    used = turn.runtime.window.tokens
    usage = turn.prompt.usage
    limit, counted = parse_length_refusal(refusal.message)
    if counted is not None:
        learn_count(turn, turn.prompt, counted)
    if limit is None or limit > used or (limit == used and counted is None):
        limit = int(RETRY_SHARE * usage.total_tokens / usage.effective_limit * used)
    turn.assume_window(Window(limit, "a refusal of the server"))


def cut_notices(turn: TurnInProgress, reported: int) -> Iterator[events.Notice]:
    """Notices that the server has silently left out much of the prompt.

    Ollama does this when it is called by OpenAI's API.
    """
    model = turn.runtime.model
    if turn.runtime.counter.problem is not None:
        return
    counted = turn.counted.text if turn.counted else 0
    if model.has_server and counted > MIN_CUT and reported < MOST_LEFT * counted:
        problem = (
            f"{model.name}: its server has cut the prompt: it reports {reported:,} of about "
            f"{round(counted):,} tokens"
        )
        hint = "Give it a larger window, or set context.max_tokens to the one that it has."
        yield events.Notice(problem, hint)
