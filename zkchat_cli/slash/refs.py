"""/refs: every document of this conversation."""

from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:  # noqa: ARG001  every command has this shape
    lines = []
    for reference in session.document_references():
        if reference.relative_path is None:
            near = ", ".join(f"[[{name}]]" for name in reference.candidates)
            lines.append(f"  ✗ {reference.wikilink} not found{'; nearest: ' + near if near else ''}")
            continue
        number = f"[{reference.number}]" if reference.number is not None else "·"
        lines.append(f"  {number:>5} {reference.wikilink}   {reference.relative_path}   ({reference.reference_type})")
        if reference.summary:
            lines.append(f"        {reference.summary}")
    return Outcome("\n".join(lines) or "No document has been mentioned or found yet.")


COMMAND = SlashCommand("refs", "the documents of this conversation", _run)
