"""Pictures of a prompt that cannot be sent any more: their file is gone or has changed since, or
another model answers, which takes none. Pure.
"""

from collections.abc import Callable

from zkchat_cli.context.budget import Budget
from zkchat_cli.context.usage import measure_usage
from zkchat_cli.models.images import Image
from zkchat_cli.models.prompts import Prompt, PromptMessage
from zkchat_cli.text.fences import escape_line
from zkchat_cli.tokens.counter import TokenCounter


def leave_out_images(
    prompt: Prompt, why_not: Callable[[Image], str], budget: Budget, counter: TokenCounter
) -> Prompt:
    """The prompt with a note in place of each picture that cannot be sent; `why_not` is empty for
    one that can.
    """
    messages = tuple(_leave_out(message, why_not, counter) for message in prompt.messages)
    if messages == prompt.messages:
        return prompt
    usage = measure_usage(messages, prompt.tools, budget, counter, prompt.usage.compaction)
    return prompt.model_copy(update={"messages": messages, "usage": usage})


def _leave_out(
    message: PromptMessage, why_not: Callable[[Image], str], counter: TokenCounter
) -> PromptMessage:
    kept: list[Image] = []
    notes: list[str] = []
    for image in message.images:
        reason = why_not(image)
        if reason:
            notes.append(f"\n[{escape_line(image.relative_path)} is not sent: {reason}]")
        else:
            kept.append(image)
    if not notes:
        return message
    note = "".join(notes)
    image_tokens = sum(map(counter.count_image, kept))
    tokens = message.tokens - message.image_tokens + image_tokens + counter.count(note)
    return message.model_copy(
        update={
            "content": message.content + note,
            "images": tuple(kept),
            "image_tokens": image_tokens,
            "tokens": tokens,
        }
    )
