"""The properties of notes, read from their files: the index has no table of them. They are in front
matter and, as inline fields, in the text.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from zkchat_cli import fileio
from zkchat_cli.errors import VaultError
from zkchat_cli.markdown.inline_fields import inline_fields
from zkchat_cli.text import words
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.front_matter import read_front_matter
from zkchat_cli.vault.text_decoder import decode

# A text without these has no properties
_FRONT_MATTER = (b"---", b"\xef\xbb\xbf---", b"\xff\xfe", b"\xfe\xff")
_FIELD = b"::"
_MOST_BYTES = 4_000_000


def read_properties(root: Path, relative_path: str) -> Mapping[str, tuple[str, ...]]:
    """The values of each property by its folded name; none for a note that cannot be read."""
    with suppress(OSError, VaultError):
        file = filesystem.resolve_inside(root, relative_path)
        raw = fileio.read_beginning(file, _MOST_BYTES)
        if not raw.startswith(_FRONT_MATTER) and _FIELD not in raw:
            return {}
        text = decode(raw).text
        matter = read_front_matter(text)
        found = {name: matter.texts(name) for name in matter.written}
        for field in inline_fields(text.split("\n", matter.lines)[-1]):
            values = found.get(field.name, ())
            if field.value and field.value not in values:
                found[field.name] = (*values, field.value)
        return found
    return {}


def has_property(root: Path, relative_path: str, wanted: str) -> bool:
    """Whether a note has a property, as "status" or with a value as "status: open", or one of
    several as "status: open | lent". A value fits that has all the words of the wanted one:
    "author: Kafka" finds Franz Kafka.
    """
    name, _, value = wanted.partition(":")
    values = read_properties(root, relative_path).get(name.strip().casefold(), ())
    found = [set(words.terms(each)) for each in values]
    for alternative in value.split("|"):
        terms = set(words.terms(alternative))
        if any(terms <= each for each in found):
            return True
    return False
