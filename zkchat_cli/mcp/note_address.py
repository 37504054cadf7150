"""Addresses of notes and of their sections: `note://Garden/Compost.md#Turning%20it`.

Each part is written with percent signs, as RFC 3986 asks. Clients that fill in a template write
them in other ways: they leave `#` and `%` of a name as they are, or have only the name of a note.
So an address is read in several ways, and the first that names a file exactly is the right one.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import quote, unquote

from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.sections import LineSpan
from zkchat_cli.vault.vault import Vault

NOTE_SCHEME = "note://"
# Characters of an address, and signs `#` in it that may end the path
LONGEST_ADDRESS = 8_192
MOST_HASHES = 8


class NoteAddress(NamedTuple):
    """The path of a note in the vault, and a heading in it; empty for the whole note."""

    path: str
    heading: str = ""


def write_address(address: NoteAddress) -> str:
    """The URI of a note or of a section."""
    written = NOTE_SCHEME + quote(address.path, safe="/")
    if not address.heading:
        return written
    return f"{written}#{quote(address.heading, safe='')}"


def find_address(vault: Vault, uri: str) -> NoteAddress:
    """The note that a URI means, by its path or otherwise by its name, and the heading. Raises
    VaultError for a note that is not in the vault, UsageError for another kind of address.
    """
    if not uri.startswith(NOTE_SCHEME) or len(uri) > LONGEST_ADDRESS:
        raise UsageError(
            f"{truncate(uri, 80)} is no address of a note", "They are written note://path#heading."
        )
    readings = list(_readings(uri.removeprefix(NOTE_SCHEME)))
    for reading in readings:
        with suppress(VaultError):
            if vault.locate(reading.path).path == reading.path:
                return reading
    named = readings[0]
    if not named.path.strip():
        raise UsageError(f"{truncate(uri, 80)} names no note", "Give its path or its name.")
    return NoteAddress(vault.locate(named.path).path, named.heading)


def find_lines(vault: Vault, address: NoteAddress) -> LineSpan | None:
    """The lines of the addressed section; None for the whole note. Raises VaultError for a heading
    that the note does not have.
    """
    if not address.heading:
        return None
    try:
        return vault.reader.section(address.path, address.heading)
    except VaultError:
        if "#" not in address.heading:
            raise
    # Links write `Above#Heading`, but a heading may have the sign in its text
    return vault.reader.section(address.path, address.heading.replace("#", " "))


def _readings(written: str) -> Iterator[NoteAddress]:
    """What the address may mean, first as RFC 3986 reads it."""
    ends = [place for place, character in enumerate(written) if character == "#"][:MOST_HASHES]
    for end in [*ends, len(written)]:
        path = written[:end]
        heading = written[end + 1 :]
        yield NoteAddress(unquote(path), unquote(heading))
        if "%" in written:
            yield NoteAddress(path, heading)
