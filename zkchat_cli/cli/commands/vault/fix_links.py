"""Repair broken links: the change is shown as a diff and made when the user agrees."""

import sys

from zkchat_cli.cli.command import CommandContext, confirm
from zkchat_cli.terminal.approval import show_diff
from zkchat_cli.text.numbers import plural
from zkchat_cli.vault.edit.note_editor import LinkFix
from zkchat_cli.vault.links.broken import certain_target
from zkchat_cli.vault.vault import Vault


def fix_links(ctx: CommandContext, notes: Vault, *, yes: bool) -> None:
    """Propose the only possible note for each broken link; repair with `yes`, or if the user agrees. Exits with DECLINED on a no."""
    links = notes.broken_links()
    targets = [certain_target(link.text, link.candidates) for link in links]
    fixes = [LinkFix(link.row.source, link.row.line, link.row.raw, path) for link, path in zip(links, targets, strict=True) if path]
    change = notes.editor.fix_links(fixes)
    if not ctx.as_json:
        for fix in fixes if change.files else ():
            ctx.screen.print(f"{fix.source}:{fix.line}  {fix.raw} → {fix.target}")
        show_diff(change.diff, ctx.screen)
    asks = change.files and not ctx.as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if asks:
        confirm(f"{change.summary[:1].upper()}{change.summary[1:]}?", "vault broken --fix", yes=yes)
    made = notes.editor.apply(change) if change.files and (yes or asks) else None
    unclear = targets.count(None)
    if change.files:
        skipped = f"; {unclear} skipped, no certain target" if unclear else ""
        text = f"{change.summary}: {'done' if made else 'nothing was changed; use --yes'}{skipped}"
    else:
        text = f"No certain target for {plural(unclear, 'broken link')}." if unclear else "No broken links."
    rows = [
        {"source": link.row.source, "line": link.row.line, "raw": link.row.raw, "candidates": list(link.candidates), "fix": path}
        for link, path in zip(links, targets, strict=True)
    ]
    ctx.result({"links": rows, "diff": change.diff, "made": made is not None}, text)
    if made is not None and made.interrupted:
        raise KeyboardInterrupt
