"""Broken links made to lead to the notes they meant: shown as a diff first, done when somebody says so."""

import sys
from collections.abc import Callable, Sequence

from zkchat_cli.terminal.diffs import show_diff
from zkchat_cli.terminal.interrupts import STOPPED
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.vault import approval
from zkchat_cli.vault.edit.note_editor import LinkFix
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.links.broken import certain_target
from zkchat_cli.vault.vault import Vault

Says = Callable[[str, str], str]
"""Asks a question, with the answers there are, and comes back with what somebody said."""
YES, EACH, ENOUGH = ("y", "yes"), ("e", "each"), ("q", "quit", STOPPED)


def fix_links(notes: Vault, screen: Screen, *, git: bool, unsure: bool, yes: bool, as_json: bool, says: Says | None = None) -> bool:
    """Propose a note for each broken link that surely meant one, or with `unsure` the nearest; do it with `yes`, or as somebody `says`.

    False when somebody was asked and wanted none of it.
    """
    links = notes.broken_links().links
    sure = [certain_target(link.text, link.candidates) for link in links]
    meant = [path or next(iter(link.candidates if unsure else ()), None) for link, path in zip(links, sure, strict=True)]
    fixes = [
        LinkFix(link.row.source, link.row.line, link.row.raw, path) for link, path in zip(links, meant, strict=True) if path is not None
    ]
    change = notes.editor.fix_links(fixes)
    if not as_json:
        for fix in fixes if change.files else ():
            screen.print(f"{fix.source}:{fix.line}  {fix.raw} → {fix.target}")
        show_diff(change.diff, screen)
    asked = says if change.files and not as_json else None
    wanted = fixes if yes else _wanted(change.summary, fixes, asked) if asked is not None else []
    if 0 < len(wanted) < len(fixes):
        change = notes.editor.fix_links(wanted)
    made = approval.apply_change(notes, change, git=git) if wanted and change.files else None
    if as_json:
        rows = [
            {"source": link.row.source, "line": link.row.line, "raw": link.row.raw, "candidates": list(link.candidates)} for link in links
        ]
        found = [{**row, "fix": path, "sure": certain is not None} for row, path, certain in zip(rows, meant, sure, strict=True)]
        screen.json({"links": found, "diff": change.diff, "made": made is not None, "told": made and made.message})
    else:
        undone = "nothing was changed" if asked is not None else "nothing was changed, --yes does it"
        screen.print(_outcome(change, made.message if made else undone, meant.count(None), len(fixes) - len(wanted) if made else 0), "dim")
    for told in (*notes.take_warnings(), *([made.problem] if made is not None and made.problem is not None else ())):
        screen.warn(told.message, told.hint)
    if made is not None and made.interrupted:
        raise KeyboardInterrupt
    return bool(wanted) or yes or asked is None


def somebody(screen: Screen) -> Says | None:
    """Who can be asked: the person at this terminal; None where there is none."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    from zkchat_cli.terminal.confirm import Confirmation  # prompt_toolkit, which only this needs

    return Confirmation(colour=screen.colour).said


def _wanted(summary: str, fixes: Sequence[LinkFix], says: Says) -> list[LinkFix]:
    """Those that are to be made: all, none, or each that is said yes to."""
    said = says(f"{summary[:1].upper()}{summary[1:]}?", "y/N, e: ask for each").lower()
    if said not in EACH:
        return list(fixes) if said in YES else []
    wanted = []
    for fix in fixes:
        answer = says(f"{fix.source}:{fix.line}  {fix.raw} → {fix.target}?", "y/N, q: no more").lower()
        if answer in ENOUGH:
            break
        wanted += [fix] if answer in YES else []
    return wanted


def _outcome(change: Change, told: str, unsure: int, unwanted: int) -> str:
    if not change.files:
        return f"None of {unsure} broken links surely meant a note; --unsure takes the nearest names." if unsure else "No broken links."
    rest = (f"; {unwanted} left as asked" if unwanted else "") + (f"; {unsure} left, whose note is not sure" if unsure else "")
    return f"{change.summary}: {told}{rest}"
