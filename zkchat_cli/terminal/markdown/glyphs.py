"""What an answer is drawn with besides letters."""

from dataclasses import dataclass, field

from zkchat_cli.terminal.markdown.table import Look


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The signs of quotes, lists, tasks and tables."""

    quote: str = "│"
    bullet: str = "•"
    open_task: str = "☐"
    done_task: str = "☑"
    table: Look = field(default_factory=Look)


ASCII_GLYPHS = Glyphs("|", "-", "[ ]", "[x]", Look("|", "-", "+"))
