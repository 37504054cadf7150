"""The state of search by meaning, as one line."""

from zkchat_cli.models import SemanticStatus


def describe_semantic_status(status: SemanticStatus) -> str:
    """The model, and what share of the vectors is there."""
    name = f"{status.provider}/{status.model}"
    if status.complete:
        return f"{name}, complete"
    return f"{name}, {status.embedded / max(status.windows, 1):.0%} done: zkchat vault index --semantic computes the rest"
