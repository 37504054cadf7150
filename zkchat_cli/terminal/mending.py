"""Broken links made to lead to the notes they meant: shown as a diff first, done when somebody says so."""

import sys

from zkchat_cli import changing
from zkchat_cli.terminal.diffs import show_diff
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.vault import Vault
from zkchat_cli.vault.broken import surely_meant
from zkchat_cli.vault.changes import Change, Fix


def mend(notes: Vault, screen: Screen, *, git: bool, unsure: bool, yes: bool, as_json: bool) -> None:
    """Propose a note for each broken link that surely meant one, or with `unsure` the nearest; do it with `yes`, or a yes on a terminal."""
    links = notes.broken_links().links
    sure = [surely_meant(link.text, link.candidates) for link in links]
    meant = [path or next(iter(link.candidates if unsure else ()), None) for link, path in zip(links, sure, strict=True)]
    fixes = [Fix(link.row.source, link.row.line, link.row.raw, path) for link, path in zip(links, meant, strict=True) if path is not None]
    change = notes.changes.fix(fixes)
    if not as_json:
        for fix in fixes if change.files else ():
            screen.print(f"{fix.source}:{fix.line}  {fix.raw} → {fix.target}")
        show_diff(change.diff, screen)
    going = bool(change.files) and (yes or (not as_json and _agreed(change.summary, screen)))
    made = changing.make(notes, change, git=git) if going else None
    if as_json:
        rows = [
            {"source": link.row.source, "line": link.row.line, "raw": link.row.raw, "candidates": list(link.candidates)} for link in links
        ]
        found = [{**row, "fix": path, "sure": certain is not None} for row, path, certain in zip(rows, meant, sure, strict=True)]
        screen.json({"links": found, "diff": change.diff, "made": made is not None, "told": made and made.told})
    else:
        screen.print(_outcome(change, made, meant.count(None)), "dim")
    for told in (*notes.take_warnings(), *([made.problem] if made is not None and made.problem is not None else ())):
        screen.warn(told.message, told.hint)
    if made is not None and made.stopped:
        raise KeyboardInterrupt


def _agreed(question: str, screen: Screen) -> bool:
    """Whether somebody can be asked, and says yes."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    from zkchat_cli.terminal.question import Question  # prompt_toolkit, which only this needs

    return Question(colour=screen.colour).ask(f"{question[:1].upper()}{question[1:]}?")


def _outcome(change: Change, made: changing.Made | None, left: int) -> str:
    if not change.files:
        return f"None of {left} broken links surely meant a note; --unsure takes the nearest names." if left else "No broken links."
    rest = f"; {left} left, whose note is not sure" if left else ""
    return f"{change.summary}: {made.told if made else 'nothing was changed, --yes does it'}{rest}"
