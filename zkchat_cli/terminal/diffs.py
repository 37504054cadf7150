"""A unified diff on the screen, with the colours that `git diff` gives it."""

from zkchat_cli.terminal.screen import Screen

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def show_diff(diff: str, screen: Screen, most: int | None = None) -> None:
    """Its lines, `most` of them at most; how many more there are is said."""
    lines = diff.splitlines()
    for line in lines[:most]:
        style = "bold" if line.startswith(("--- ", "+++ ")) else _STYLES.get(line[:1])
        screen.print(line, *([style] if style else []))
    if most is not None and len(lines) > most:
        screen.print(f"  … and {len(lines) - most} more lines", "dim")
