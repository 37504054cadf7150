"""The blocks of a text as pieces that can be quoted: groups of sentences, rows of tables, lines of
code. Pure.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.markdown.blocks import GAP, MarkdownBlock, block_sentences
from zkchat_cli.markdown.tables import is_delimiter_row
from zkchat_cli.text.sentences import ends_as_sentence, split_sentences

PassageKind = Literal["prose", "item", "row", "code"]
# A paragraph of at least so many lines, all of them short, is a list without marks: prose has
# longer lines, or sentences
FEWEST_LINES = 3
LONGEST_LINE = 60


class PassagePiece(NamedTuple):
    """A piece of a block and its kind."""

    text: str
    kind: PassageKind


def pieces_of(block: MarkdownBlock, max_group: int) -> Iterator[PassagePiece]:
    """The pieces of a block in its order; sentences are joined up to `max_group` characters."""
    match block.kind:
        case "table":
            for row in _table_rows(block.lines):
                yield PassagePiece(row, "row")
        case "code" | "indented":
            for line in filter(_is_line_of_code, _join_continued(block.lines)):
                yield PassagePiece(line, "code")
        case "paragraph" | "item" | "callout":
            kind: PassageKind = "item" if block.kind == "item" else "prose"
            for lines in _split_lines(block):
                for group in _sentence_groups(lines, max_group):
                    yield PassagePiece(group, kind)


def _is_line_of_code(line: str) -> bool:
    """Whether a line is more than the fence of a code block that is shown in other code."""
    return not line.startswith(("```", "~~~")) and any(map(str.isalnum, line))


def _table_rows(lines: Sequence[str]) -> Iterator[str]:
    """The rows of a table without its header; a row with a gap in it cannot be quoted."""
    for row, below in zip(lines, (*lines[1:], ""), strict=True):
        if not is_delimiter_row(row) and not is_delimiter_row(below) and GAP not in row:
            cells = [cell for cell in row.split("|") if cell.strip()]
            if len(cells) > 1 or "|" not in row:
                yield bare_row(row)


def bare_row(row: str) -> str:
    """A row without the lines at its sides."""
    return row.strip().removeprefix("|").removesuffix("|").strip()


def _join_continued(lines: Sequence[str]) -> Iterator[str]:
    """The lines of code; those that end in a backslash with the next one."""
    begun = ""
    for line in lines:
        begun = f"{begun} {line.strip()}".strip()
        if begun.endswith("\\"):
            begun = begun[:-1].rstrip()
        else:
            yield begun
            begun = ""
    yield begun


def _split_lines(block: MarkdownBlock) -> list[MarkdownBlock]:
    """Each line of a block by itself if its lines are no prose: short, and without the end of a
    sentence.
    """
    lines = block.lines
    if len(lines) < FEWEST_LINES or any(map(_is_line_of_prose, lines)):
        return [block]
    return [block._replace(lines=(line,)) for line in lines]


def _is_line_of_prose(line: str) -> bool:
    return len(line) > LONGEST_LINE or ends_as_sentence(line) or len(split_sentences(line)) > 1


def _sentence_groups(block: MarkdownBlock, longest: int) -> list[str]:
    """The sentences of a block; short ones that follow each other are one group."""
    text = " ".join(block.text.split())
    groups: list[str] = []
    for sentence in block_sentences(block):
        joined = _join_in(text, groups[-1], sentence) if groups else ""
        if joined and len(joined) <= longest:
            groups[-1] = joined
        else:
            groups.append(sentence)
    return groups


def _join_in(text: str, last: str, sentence: str) -> str:
    """Two sentences as they follow each other in a text; empty if they do not."""
    for joined in (f"{last} {sentence}", last + sentence):
        if joined in text:
            return joined
    return ""
