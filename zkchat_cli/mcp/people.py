"""Who may use a server over HTTP, and what each of them may see and do: the file of
`zkchat mcp --token-file`.

It is read again when it changes, so a person who is taken out is refused from then on. A file with
a mistake lets nobody in: half of a list could miss what was forbidden.
"""

import hashlib
import hmac
import os
import posixpath
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from zkchat_cli.errors import ConfigError, reason, value_problem
from zkchat_cli.fileio import open_regular
from zkchat_cli.vault.filesystem import Stamp, stamp
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

# Requests a second, unless the file says another number; a program sends a handful for a question
REQUESTS_PER_SECOND = 20.0
MOST_REQUESTS_PER_SECOND = 1000.0
# Characters of a token, which are as hard to guess as a key of 120 bits if they are random
SHORTEST_TOKEN = 20
# Bytes of the file
LARGEST_FILE = 1_000_000
HOW_TO_MAKE_A_TOKEN = "Make one: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a token. Only the token's hash is kept."""

    name: str
    token_digest: bytes = field(repr=False)
    view: VaultView = WHOLE_VAULT
    may_write: bool = False
    # None: as many as they like
    requests_per_second: float | None = REQUESTS_PER_SECOND


def digest_token(token: bytes) -> bytes:
    """The SHA-256 of a token. A random one needs no slower hash."""
    return hashlib.sha256(token).digest()


def find_person(people: Sequence[Person], token: bytes) -> Person | None:
    """Who has this token. The time tells nothing about the other tokens."""
    digest = digest_token(token)
    found = None
    for person in people:
        if hmac.compare_digest(person.token_digest, digest):
            found = person
    return found


class PeopleFile:
    """The people of a token file, read again when the file changes."""

    def __init__(self, file: Path) -> None:
        """Raises ConfigError for a file that cannot be used."""
        self._file = file
        self._stamp: Stamp | None = None
        self._people: tuple[Person, ...] = ()
        self._problem: ConfigError | None = None
        self.people()

    def people(self) -> tuple[Person, ...]:
        """The people in the file as it is now. Raises ConfigError for a file that cannot be used;
        one that has not changed since raises the same error object again.
        """
        try:
            found = stamp(os.stat(self._file))  # noqa: PTH116
        except OSError:
            # Reading says what is wrong
            found = None
        if found is None or found != self._stamp:
            self._stamp = found
            self._problem = None
            try:
                self._people = read_people(self._file)
            except ConfigError as e:
                self._problem = e
        if self._problem is not None:
            raise self._problem
        return self._people


def read_people(file: Path) -> tuple[Person, ...]:
    """The people of a token file. Raises ConfigError for a file that others can read, and for one
    that is not understood.
    """
    try:
        table = tomllib.loads(_read_private(file).decode())
    except (OSError, ValueError) as e:
        raise ConfigError(f"the token file {file} cannot be used: {reason(e)}", "") from e
    if not table:
        raise ConfigError(f"the token file {file} names nobody", _EXAMPLE)
    people: list[Person] = []
    for name, entry in table.items():
        person = _read_person(file, name, entry)
        other = next((each for each in people if each.token_digest == person.token_digest), None)
        if other is not None:
            raise ConfigError(
                f"{file}: {other.name} and {name} have the same token", HOW_TO_MAKE_A_TOKEN
            )
        people.append(person)
    return tuple(people)


def _read_private(file: Path) -> bytes:
    with open_regular(file) as opened:
        mode = os.fstat(opened.fileno()).st_mode
        # Windows has no such modes
        if os.name == "posix" and mode & 0o077:
            raise ConfigError(
                f"the token file {file} can be read or changed by other users of this machine",
                f"chmod 600 {file}",
            )
        raw = opened.read(LARGEST_FILE + 1) or b""
    if len(raw) > LARGEST_FILE:
        raise ValueError(f"it is larger than {LARGEST_FILE // 1_000_000} MB")
    return raw


def _check_token(token: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise ValueError("a token has letters, digits and ._~+/=- only")
    if len(token) < SHORTEST_TOKEN:
        raise ValueError(f"it must have at least {SHORTEST_TOKEN} characters")
    return token


def _check_digest(digest: str) -> str:
    if not _DIGEST.fullmatch(digest):
        raise ValueError("it must be 64 hexadecimal digits")
    return digest


def _check_folder(folder: str) -> str:
    """A path in the vault; `.` becomes the empty one, which is the whole vault."""
    path = posixpath.normpath(folder.strip().replace(os.sep, "/")) if folder.strip() else ".."
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError('it must be a folder in the vault, such as "Team"; "." is the whole vault')
    if path == ".":
        return ""
    if any(part.startswith(".") for part in path.split("/")):
        raise ValueError("hidden folders are not in the vault")
    return path


_Folder = Annotated[str, AfterValidator(_check_folder)]


class _PersonTable(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    token: Annotated[str, AfterValidator(_check_token)] | None = None
    sha256: Annotated[str, AfterValidator(_check_digest)] | None = None
    folders: Annotated[list[_Folder], Field(min_length=1)]
    exclude: list[_Folder] = []
    write: bool = False
    requests_per_second: Annotated[float, Field(gt=0, le=MOST_REQUESTS_PER_SECOND)] = (
        REQUESTS_PER_SECOND
    )


_EXAMPLE = '[anna] with token = "…" and folders = ["Team"]: docs/reference/mcp.md shows a file.'


def _read_person(file: Path, name: str, entry: Any) -> Person:
    if not isinstance(entry, dict):
        raise ConfigError(f"{file}: {name} is not a person", f"A person is a table: {_EXAMPLE}")
    try:
        found = _PersonTable.model_validate(entry)
    except ValidationError as e:
        # Without the value, which may be a token
        first = e.errors(include_input=False)[0]
        key = ".".join([name, *(str(part) for part in first["loc"] if isinstance(part, str))])
        raise ConfigError(f"{file}: {key}: {value_problem(first)}", _hint(key)) from None
    if (found.token is None) == (found.sha256 is None):
        raise ConfigError(f"{file}: {name} needs either a token or its sha256", HOW_TO_MAKE_A_TOKEN)
    if found.token is not None:
        digest = digest_token(found.token.encode())
    else:
        digest = bytes.fromhex(found.sha256 or "")
    view = VaultView(tuple(found.folders), tuple(found.exclude))
    return Person(name, digest, view, found.write, found.requests_per_second)


def _hint(key: str) -> str:
    if key.endswith(".token"):
        return HOW_TO_MAKE_A_TOKEN
    return f"A person has {', '.join(_PersonTable.model_fields)}."
