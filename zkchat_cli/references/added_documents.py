"""Documents that the user adds to a conversation (`/add`): each prompt has their current text until
they are dropped.

A note or another file of the vault is known by its path there, a file from elsewhere by its
absolute path. Only what the user names gets here: neither models nor notes add documents. A file
outside the vault is not read for a conversation on a server, where somebody else could have put
its path.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.errors import StoreError, VaultError, nearest_names
from zkchat_cli.events import Notice
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.references.file_imports import ImportRoots, read_file
from zkchat_cli.references.mentions import MentionedDocument
from zkchat_cli.store.port import SessionStore
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.embeds import with_embedded
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.vault import Vault

# Documents of one conversation
MAX_DOCUMENTS = 20
_QUOTES = "\"'<>“”"


class AddedDocuments(NamedTuple):
    """The documents of a conversation, and where they are read."""

    names: Sequence[str]
    vault: Vault
    # Whether files outside the vault may be read
    takes_outside: bool

    @classmethod
    def of(cls, names: Sequence[str], vault: Vault, store: SessionStore) -> "AddedDocuments":
        """Those of a conversation in this store."""
        return cls(names, vault, takes_outside=_is_private(store))

    def stamps(self) -> tuple[tuple[int, int] | None, ...]:
        """What tells whether the documents have changed: time and size of each file."""
        found: list[tuple[int, int] | None] = []
        for name in self.names:
            stamp = None
            with suppress(OSError, ValueError):
                # An absolute path stays itself
                stat = (self.vault.root / name).stat()
                stamp = (stat.st_mtime_ns, stat.st_size)
            found.append(stamp)
        return tuple(found)

    def read(self, summary: Callable[[str], str | None]) -> list[MentionedDocument]:
        """Their text as it is now. One that cannot be read is told, and stays in the list."""
        return [self._read_or_tell(name, summary) for name in self.names]

    def _read_or_tell(self, name: str, summary: Callable[[str], str | None]) -> MentionedDocument:
        try:
            return read_document(name, self.vault, summary, takes_outside=self.takes_outside)
        except VaultError as e:
            missing = DocumentReference(
                wikilink=shown_name(name, self.vault),
                reference_type="import",
                status="broken",
                added=True,
            )
            hint = f"The question is sent without it. /drop {name} takes it off the list."
            return MentionedDocument(missing, warnings=(Notice(e.message, hint),))


def _is_private(store: SessionStore) -> bool:
    """Whether nobody else writes into the store."""
    try:
        return store.sharing is None
    except StoreError:
        # The server is away
        return False


def shown_name(name: str, vault: Vault) -> str:
    """A document's name for people: a link, or a path."""
    if name.lower().endswith(NOTE_SUFFIXES) and not os.path.isabs(name):  # noqa: PTH117
        return vault.link_to(name)
    return _short_path(name)


def _short_path(name: str) -> str:
    """A path for a message, with its end, where the file's name is, if it is long."""
    shown = filesystem.printable(name)
    if len(shown) <= filesystem.MAX_SHOWN_PATH:
        return shown
    return f"…{shown[1 - filesystem.MAX_SHOWN_PATH :]}"


def find_document(written: str, roots: ImportRoots) -> str:
    """The document that the user means: a file below the current folder or at any path, a path in
    the vault, or the name, title or link of a note. Raises VaultError if there is none.
    """
    wanted = written.strip().removeprefix("@").strip(_QUOTES).replace("\\ ", " ")
    root = roots.vault.root
    if "\0" not in wanted and not wanted.startswith("[["):
        for folder in dict.fromkeys(filter(None, (roots.folder, root))):
            file = folder / os.path.expanduser(wanted)  # noqa: PTH111
            if file.is_file():
                return _name_of(file, root)
    try:
        return roots.vault.locate(wanted).path
    except VaultError as e:
        hint = e.hint or nearest_names((), "A note's name, or a file's path.")
        raise VaultError(
            f"there is no note and no file {filesystem.short_path(wanted)}", hint
        ) from e


def _name_of(file: Path, root: Path) -> str:
    real = Path(os.path.realpath(file))
    if real.is_relative_to(root):
        return replace_surrogates(real.relative_to(root).as_posix())
    return replace_surrogates(str(real))


def read_document(
    name: str,
    vault: Vault,
    summary: Callable[[str], str | None] = lambda _: None,
    *,
    takes_outside: bool,
) -> MentionedDocument:
    """The current text of a document. Raises VaultError if there is none."""
    is_outside = os.path.isabs(name)  # noqa: PTH117
    if is_outside and not takes_outside:
        raise VaultError(
            f"{_short_path(name)} is outside the notes, and this conversation is on a server",
            "Copy the file into the vault.",
        )
    file = Path(name) if is_outside else filesystem.resolve_inside(vault.root, name)
    if not file.is_file():
        raise VaultError(f"the added document {_short_path(name)} is gone", "")
    imported = read_file(file, file.parent if is_outside else vault.root, vault)
    if imported.image is not None or imported.problem is not None:
        raise VaultError(
            f"{_short_path(name)} is a picture, and only text can be added",
            f"To send it with one message, write @{name} in it.",
        )
    chunks = imported.chunks
    if imported.is_note:
        chunks = tuple(with_embedded(vault, chunks))
    reference = DocumentReference(
        wikilink=shown_name(name, vault),
        relative_path=imported.relative_path,
        reference_type="direct" if imported.is_note else "import",
        summary=summary(imported.relative_path) if imported.is_note else None,
        added=True,
    )
    # Its text is sent, not only offered to the model's tools
    return MentionedDocument(reference, chunks, readable=False)
