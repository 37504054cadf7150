"""Repair broken links: the change is shown as a diff and made when the user agrees."""

import sys
from collections.abc import Callable, Sequence

from zkchat_cli.terminal.diffs import show_diff
from zkchat_cli.terminal.interrupts import STOPPED
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.vault.edit.note_editor import LinkFix
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.links.broken import certain_target
from zkchat_cli.vault.vault import Vault

Ask = Callable[[str, str], str]
"""Asks the user a question with the possible answers, and returns the answer."""
YES, EACH, STOP = ("y", "yes"), ("e", "each"), ("q", "quit", STOPPED)


def fix_links(notes: Vault, screen: Screen, *, unsure: bool, yes: bool, as_json: bool, ask: Ask | None = None) -> bool:
    """Propose a target for each broken link: the only possible note, or with `unsure` the nearest. Repair with `yes`, or as the user
    answers. Returns False if the user was asked and declined everything.
    """
    links = notes.broken_links().links
    sure = [certain_target(link.text, link.candidates) for link in links]
    targets = [path or next(iter(link.candidates if unsure else ()), None) for link, path in zip(links, sure, strict=True)]
    fixes = [
        LinkFix(link.row.source, link.row.line, link.row.raw, path) for link, path in zip(links, targets, strict=True) if path is not None
    ]
    change = notes.editor.fix_links(fixes)
    if not as_json:
        for fix in fixes if change.files else ():
            screen.print(f"{fix.source}:{fix.line}  {fix.raw} → {fix.target}")
        show_diff(change.diff, screen)
    ask = ask if change.files and not as_json else None
    approved = fixes if yes else _approved_fixes(change.summary, fixes, ask) if ask is not None else []
    if 0 < len(approved) < len(fixes):
        change = notes.editor.fix_links(approved)
    made = notes.editor.apply(change) if approved and change.files else None
    if as_json:
        rows = [
            {"source": link.row.source, "line": link.row.line, "raw": link.row.raw, "candidates": list(link.candidates)} for link in links
        ]
        found = [{**row, "fix": path, "sure": certain is not None} for row, path, certain in zip(rows, targets, sure, strict=True)]
        screen.json({"links": found, "diff": change.diff, "made": made is not None, "told": made and "done"})
    else:
        unchanged = "nothing was changed" if ask is not None else "nothing was changed; use --yes"
        screen.print(
            _result_text(change, "done" if made else unchanged, targets.count(None), len(fixes) - len(approved) if made else 0), "dim"
        )
    if made is not None and made.interrupted:
        raise KeyboardInterrupt
    return bool(approved) or yes or ask is None


def ask_at_terminal(screen: Screen) -> Ask | None:
    """A function that asks at this terminal; None if nobody can answer."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    from zkchat_cli.terminal.confirm import Confirmation  # imports prompt_toolkit

    return Confirmation(colour=screen.colour).read_answer


def _approved_fixes(summary: str, fixes: Sequence[LinkFix], ask: Ask) -> list[LinkFix]:
    """All fixes, none, or those approved one by one."""
    answer = ask(f"{summary[:1].upper()}{summary[1:]}?", "y/N, e: ask for each").lower()
    if answer not in EACH:
        return list(fixes) if answer in YES else []
    approved: list[LinkFix] = []
    for fix in fixes:
        answer = ask(f"{fix.source}:{fix.line}  {fix.raw} → {fix.target}?", "y/N, q: no more").lower()
        if answer in STOP:
            break
        approved += [fix] if answer in YES else []
    return approved


def _result_text(change: Change, result: str, unsure: int, declined: int) -> str:
    if not change.files:
        return (
            f"None of {unsure} broken links has one certain target; --unsure proposes the nearest names." if unsure else "No broken links."
        )
    rest = (f"; {declined} declined" if declined else "") + (f"; {unsure} skipped, no certain target" if unsure else "")
    return f"{change.summary}: {result}{rest}"
