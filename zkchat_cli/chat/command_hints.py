"""What one may do next, as it is called where one reads of it: in the chat, in a shell, and in a shell that keeps nothing."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class CommandHints:
    """Of each way its name, with {} for what it takes; empty where it does not lead anywhere."""

    compact: str = "/compact"
    undo: str = "/compact undo"
    goes_on: str = "/continue"
    run_goes_on: str = "/solve"
    unpin: str = "/unpin {}"
    forget: str = "/forget {}"
    afresh: str = "/new"
    agent: str = "/agent"
    all_sources: str = "/refs"


IN_CHAT = CommandHints()
IN_SHELL = CommandHints(
    compact="zkchat context compact",
    undo="zkchat context compact --undo",
    goes_on="zkchat ask -c",
    run_goes_on="zkchat ask -c --iterations N",
    unpin="/unpin {} in the chat",
    forget="zkchat memory forget {}",
    afresh="zkchat ask without -c",
    agent="zkchat agent",
    all_sources="references.max_displayed",
)
UNSTORED = replace(IN_SHELL, undo="", goes_on="", run_goes_on="")
