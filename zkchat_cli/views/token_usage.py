"""What model calls cost, in words."""

from collections.abc import Callable

from zkchat_cli.models import TokenUsage


def usage_text(usage: TokenUsage, number: Callable[[int], str] = "{:,}".format) -> str:
    """`~1,904 tokens in (812 cached), 88 out`"""
    mark = "~" if usage.estimated else ""
    cached = f" ({number(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    return f"{mark}{number(usage.prompt_tokens)} tokens in{cached}, {mark}{number(usage.completion_tokens)} out"
