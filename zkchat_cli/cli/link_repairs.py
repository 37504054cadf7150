"""What `zkchat vault broken --fix` does: links without a target get the only one they can mean."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from zkchat_cli.cli.command import CommandContext, confirm
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import reveal_invisible

if TYPE_CHECKING:
    from zkchat_cli.vault.edit.transaction import Change
    from zkchat_cli.vault.index.values import LinkRow
    from zkchat_cli.vault.links.name_suggestions import BrokenLink
    from zkchat_cli.vault.vault import Vault


def fix_links(ctx: CommandContext, notes: "Vault", *, yes: bool) -> None:
    """Propose the only possible note for each broken link; repair with `yes`, or if the user
    agrees.
    """
    from zkchat_cli.vault.links.name_suggestions import certain_target

    repairs: list[LinkRepair] = []
    for link in notes.graph.broken_links():
        target = certain_target(link.text, link.candidates)
        repairs.append(LinkRepair(link, target))
    fixes = [each.link.row._replace(target=each.path) for each in repairs if each.path]
    change = notes.editor.fix_links(fixes)
    if not ctx.as_json:
        _show_fixes(ctx, fixes, change)
    made = False
    outcome = ""
    if change.files:
        made = _apply_fixes(ctx, notes, change, yes=yes)
        done = "done" if made else "nothing was changed; use --yes"
        outcome = f"{change.summary}: {done}; "
    unclear = sum(each.path is None for each in repairs)
    text = f"{outcome}{plural(unclear, 'broken link')} without a certain target"
    documents = [each.document for each in repairs]
    ctx.print_result({"links": documents, "diff": change.diff, "made": made}, text)


def _apply_fixes(ctx: CommandContext, notes: "Vault", change: "Change", *, yes: bool) -> bool:
    """Repair with `yes`, or if the user agrees; returns whether it was done."""
    can_ask = not ctx.as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if not yes and not can_ask:
        return False
    summary = f"{change.summary[:1].upper()}{change.summary[1:]}"
    confirm(f"{reveal_invisible(summary)}?", "vault broken --fix", yes=yes)
    notes.editor.apply(change)
    return True


def _show_fixes(ctx: CommandContext, fixes: "Iterable[LinkRow]", change: "Change") -> None:
    from zkchat_cli.views.turn_steps import diff_lines

    if change.files:
        for fix in fixes:
            ctx.screen.print(f"{fix.source}:{fix.line}  {fix.raw} → {fix.target}")
    ctx.screen.show(diff_lines(change.diff))


class LinkRepair(NamedTuple):
    """A broken link and the only note that it can mean; None if there are several, or none."""

    link: "BrokenLink"
    path: str | None

    @property
    def document(self) -> dict[str, Any]:
        """The repair in JSON."""
        return {
            "source": self.link.row.source,
            "line": self.link.row.line,
            "raw": self.link.row.raw,
            "candidates": list(self.link.candidates),
            "fix": self.path,
        }
