"""Names of the commands to suggest: in the chat, in the shell, and in a shell that stores nothing."""

from typing import NamedTuple


class CommandHints(NamedTuple):
    """{} is replaced by the argument. A hint is empty where there is no such command."""

    compact: str = "/compact"
    undo: str = "/compact undo"
    continue_answer: str = "/continue"
    unpin: str = "/unpin {}"
    forget: str = "/forget {}"
    agent: str = "/agent NAME"
    all_sources: str = "/refs"
    ground: str = "/ground"


IN_CHAT = CommandHints()
IN_SHELL = CommandHints(
    compact="zkchat context compact",
    undo="zkchat context compact --undo",
    continue_answer="zkchat ask -c",
    unpin="/unpin {} in the chat",
    forget="zkchat memory forget {}",
    agent="--agent NAME",
    all_sources="references.max_displayed",
    ground="",
)
UNSTORED = IN_SHELL._replace(undo="", continue_answer="")
