"""Repair broken links: the change is shown as a diff and made when the user agrees."""

import sys
from collections.abc import Callable

from zkchat_cli.terminal.diffs import show_diff
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.vault.edit.note_editor import LinkFix
from zkchat_cli.vault.links.broken import certain_target
from zkchat_cli.vault.vault import Vault

Confirm = Callable[[str], bool]


def fix_links(notes: Vault, screen: Screen, *, yes: bool, as_json: bool, confirm: Confirm | None = None) -> bool:
    """Propose the only possible note for each broken link; repair with `yes`, or if the user agrees. Returns False if they declined."""
    links = notes.broken_links()
    targets = [certain_target(link.text, link.candidates) for link in links]
    fixes = [LinkFix(link.row.source, link.row.line, link.row.raw, path) for link, path in zip(links, targets, strict=True) if path]
    change = notes.editor.fix_links(fixes)
    if not as_json:
        for fix in fixes if change.files else ():
            screen.print(f"{fix.source}:{fix.line}  {fix.raw} → {fix.target}")
        show_diff(change.diff, screen)
    asks = bool(change.files) and not yes and not as_json and confirm is not None
    agreed = yes or (asks and confirm is not None and confirm(f"{change.summary[:1].upper()}{change.summary[1:]}?"))
    made = notes.editor.apply(change) if agreed and change.files else None
    unclear = targets.count(None)
    if as_json:
        rows = [
            {"source": link.row.source, "line": link.row.line, "raw": link.row.raw, "candidates": list(link.candidates), "fix": path}
            for link, path in zip(links, targets, strict=True)
        ]
        screen.json({"links": rows, "diff": change.diff, "made": made is not None})
    elif not change.files:
        screen.print(f"None of {unclear} broken links has one certain target." if unclear else "No broken links.", "dim")
    else:
        result = "done" if made else "nothing was changed" if asks else "nothing was changed; use --yes"
        screen.print(f"{change.summary}: {result}" + (f"; {unclear} skipped, no certain target" if unclear else ""), "dim")
    if made is not None and made.interrupted:
        raise KeyboardInterrupt
    return agreed or not asks


def confirm_at_terminal(screen: Screen) -> Confirm | None:
    """A function that asks at this terminal; None if nobody can answer."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    from zkchat_cli.terminal.confirm import Confirmation  # imports prompt_toolkit

    return Confirmation(colour=screen.colour).ask
