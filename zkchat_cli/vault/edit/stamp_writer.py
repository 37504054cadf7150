"""Writes a stamp into a note's front matter, and changes nothing else of the note: other
verifications, comments, line ends and the text stay as they are, byte for byte.
"""

import json
import re
from collections.abc import Sequence

from zkchat_cli.errors import VaultError
from zkchat_cli.text.words import normalize_line_ends, replace_surrogates
from zkchat_cli.vault.filesystem import printable
from zkchat_cli.vault.front_matter import read_front_matter
from zkchat_cli.vault.knowledge_format import STAMP_ACTOR, Stamp, verification_entries
from zkchat_cli.vault.yaml_tree import YamlNode, parse_yaml

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+\Z")
_ENTRY = re.compile(r"[ \t]*-(?:[ \t]|$)")


def _refusal(path: str, cause: str) -> VaultError:
    return VaultError(
        f"{printable(path)} is not stamped: {cause}",
        "Correct its front matter in your editor; nothing was changed.",
    )


def write_stamp(path: str, text: str, stamp: Stamp) -> str:
    """The text of a note with a stamp, which replaces its last one. A note without front matter
    gets one. Raises VaultError if a stamp cannot be added to the front matter as it is written.
    """
    lines = _LINE.findall(text)
    newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    header = read_front_matter(normalize_line_ends(text))
    if header.problem is not None:
        raise _refusal(path, header.problem)
    if not header.lines:
        head = ["---", "verified:", *_block_entry(stamp, "  "), "---"]
        return "".join(line + newline for line in head) + text
    front = lines[1 : header.lines - 1]
    root = _parse(path, front)
    changed = _add_entry(path, front, root, stamp, newline)
    _require_same(path, root, _parse(path, changed))
    return "".join([lines[0], *changed, *lines[header.lines - 1 :]])


def _parse(path: str, front: Sequence[str]) -> YamlNode | None:
    try:
        root = parse_yaml(normalize_line_ends("".join(front)))
    except ValueError as e:
        raise _refusal(path, f"its front matter is not valid YAML ({e})") from e
    if root is not None and (root.fields is None or root.is_flow):
        raise _refusal(path, "its front matter has no property on a line of its own")
    names = [key.scalar for key, _ in root.fields or ()] if root is not None else []
    if names.count("verified") > 1:
        raise _refusal(path, "`verified` is twice in its front matter")
    return root


def _require_same(path: str, before: YamlNode | None, after: YamlNode | None) -> None:
    """Raise VaultError if anything but the stamp is different: line breaks that only YAML knows
    shift its lines.
    """
    if _without_stamp(before) != _without_stamp(after) or _count_stamps(after) != 1:
        raise _refusal(path, "`verified` in its front matter is written in an unusual form")


def _without_stamp(root: YamlNode | None) -> object:
    if root is None:
        return ([], [])
    others = [entry.plain() for entry in verification_entries(root) if not _is_stamp(entry)]
    fields = [(k.plain(), v.plain()) for k, v in root.fields or () if k.scalar != "verified"]
    return (fields, others)


def _count_stamps(root: YamlNode | None) -> int:
    return sum(map(_is_stamp, verification_entries(root))) if root is not None else 0


def _is_stamp(entry: YamlNode) -> bool:
    return entry.text("by") == STAMP_ACTOR


def _add_entry(
    path: str, front: list[str], root: YamlNode | None, stamp: Stamp, newline: str
) -> list[str]:
    """The lines of front matter with the stamp among its verifications."""
    margin = " " * (root.start.column if root is not None else 0)
    verified = root.field("verified") if root is not None else None
    if verified is None:
        entry = [f"{margin}verified:", *_block_entry(stamp, f"{margin}  ")]
        return [*front, *(line + newline for line in entry)]
    if verified.scalar is not None or (verified.items is None and verified.fields is None):
        if verified.scalar:
            raise _refusal(path, "`verified` in its front matter is no list")
        entry = _block_entry(stamp, f"{margin}  ")
        return _insert(front, verified.start.line + 1, entry, newline)
    if verified.is_flow:
        return _add_to_flow(front, verified, stamp, newline, margin)
    return _add_to_block(front, verified, stamp, newline)


def _insert(front: list[str], at: int, entry: Sequence[str], newline: str) -> list[str]:
    return [*front[:at], *(line + newline for line in entry), *front[at:]]


def _add_to_block(front: list[str], verified: YamlNode, stamp: Stamp, newline: str) -> list[str]:
    """The stamp as an entry of a list with a line for each value. A single verification without
    a dash becomes the first entry of such a list.
    """
    margin = " " * verified.start.column
    entry = _block_entry(stamp, margin)
    if verified.items is None:
        first = verified.start.line
        end = verified.last_line + 1
        if _is_stamp(verified):
            return _insert(front[:first] + front[end:], first, entry, newline)
        margins = [f"{margin}- ", *[f"{margin}  "] * (end - first - 1)]
        listed = [
            new + line[len(margin) :] if _is_content(line) else line
            for new, line in zip(margins, front[first:end], strict=True)
        ]
        return _insert([*front[:first], *listed, *front[end:]], end, entry, newline)
    for item in verified.items:
        if _is_stamp(item):
            first = item.start.line
            while not _ENTRY.match(front[first]):
                first -= 1
            return _insert(front[:first] + front[item.last_line + 1 :], first, entry, newline)
    return _insert(front, verified.last_line + 1, entry, newline)


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _add_to_flow(
    front: list[str], verified: YamlNode, stamp: Stamp, newline: str, margin: str
) -> list[str]:
    """The stamp in a list in brackets; a single verification in braces becomes the first entry of
    a list with a line for each.
    """
    written = _flow_entry(stamp)
    for entry in (verified,) if verified.items is None else verified.items:
        if _is_stamp(entry):
            return _replace(front, entry, written)
    if verified.items is None:
        line = verified.start.line
        column = verified.start.column
        before = front[line][:column].rstrip()
        after = f"{margin}  - {front[line][column:]}"
        listed = [*front[:line], before + newline, after, *front[line + 1 :]]
        entry_lines = _block_entry(stamp, f"{margin}  ")
        return _insert(listed, verified.end.line + 2, entry_lines, newline)
    if not verified.items:
        return _replace(front, verified, f"[{written}]")
    last = verified.items[-1]
    line = last.end.line
    added = front[line][: last.end.column] + f", {written}" + front[line][last.end.column :]
    return [*front[:line], added, *front[line + 1 :]]


def _replace(front: list[str], node: YamlNode, written: str) -> list[str]:
    """The lines with something else in the place of a node in brackets."""
    before = front[node.start.line][: node.start.column]
    after = front[node.end.line][node.end.column :]
    lines = [*front[: node.start.line], before + written + after]
    return [*lines, *front[node.end.line + 1 :]]


def _block_entry(stamp: Stamp, margin: str) -> list[str]:
    """The stamp as an entry with a line for each value."""
    lines = [
        f"{margin}- by: {STAMP_ACTOR}",
        f"{margin}  at: {stamp.at}",
        f"{margin}  quotations: {stamp.quotations}",
        f'{margin}  text: "{stamp.text_digest}"',
        f"{margin}  sources:",
    ]
    return lines + [f"{margin}    - {each}" for each in _source_entries(stamp)]


def _flow_entry(stamp: Stamp) -> str:
    return (
        f"{{ by: {STAMP_ACTOR}, at: {stamp.at}, quotations: {stamp.quotations}, "
        f'text: "{stamp.text_digest}", sources: [{", ".join(_source_entries(stamp))}] }}'
    )


def _source_entries(stamp: Stamp) -> list[str]:
    entries = []
    for source in stamp.sources:
        resource = json.dumps(replace_surrogates(f"/{source.path}"), ensure_ascii=False)
        entries.append(f'{{ resource: {resource}, sha256: "{source.digest}" }}')
    return entries
