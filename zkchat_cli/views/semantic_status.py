"""The state of search by meaning, as one line."""

from zkchat_cli.models import SemanticStatus


def describe_semantic_status(status: SemanticStatus) -> str:
    """The model, and the share of its vectors that are stored, rounded down: 100% would be complete."""
    name = f"{status.provider}/{status.model}"
    if status.complete:
        return f"{name}, complete"
    return f"{name}, {100 * status.embedded // max(status.windows, 1)}% done: zkchat vault index --semantic computes the rest"
