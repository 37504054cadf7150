"""A message as a request for notes: its kind, and what notes are meant."""

from typing import Literal, NamedTuple

from zkchat_cli.models.reports import RequestKind

Direction = Literal["to", "from", "between", ""]


class NoteRequest(NamedTuple):
    """A message as a request. `kind` is None for what no search can do; `task` says what that is.

    `about` is what to search for, without the words of the instruction; `dates` and `columns` are
    as the user wrote them.
    """

    kind: RequestKind | None = "lookup"
    about: str = ""
    note: str = ""
    other: str = ""
    direction: Direction = ""
    left: str = ""
    right: str = ""
    # What is compared of both sides, "the price"; and the sides with its words, if these may be a
    # part of a name ("Lord of the Rings")
    aspect: str = ""
    whole_left: str = ""
    whole_right: str = ""
    tag: str = ""
    folder: str = ""
    # The kind of the notes that their titles begin with: "machine" for "Machine - nas"
    title: str = ""
    property: str = ""
    dates: str = ""
    columns: str = ""
    # The column that a table is sorted by, "-ram" from the highest down
    order: str = ""
    what: str = ""
    task: str = ""
    limit: int = 0
    newest: bool = False
    oldest: bool = False
    # A kind of notes ("books"), the state they are in or not in ("finished"), and what they do not
    # have ("a rating"): what that means in a vault, its tags, folders and properties say
    noun: str = ""
    # The words before a kind, "release" of "release notes": what its notes are about, or a part of
    # its name
    topic: str = ""
    state: str = ""
    is_negated: bool = False
    lacks: str = ""
    # What they do not say, and the note that they do not link to; "-": they link to none
    excluded: str = ""
    # Whom or what they are with, "meetings with Ana": the value of a property, or a word
    companion: str = ""
    # Who made what they are about, "books by Kafka": the author, or a word
    maker: str = ""
    is_orphan: bool = False
    is_overdue: bool = False
    # "sum", "average", "highest" or "lowest" of an amount ("km", "rating"), and what was done to
    # reach it ("run")
    measure: str = ""
    amount: str = ""
    activity: str = ""
    # The property with the wanted dates: "birthday"
    dated: str = ""
    # What was paid for: a line of the amounts has it, or a name above it
    item: str = ""
    unlinked: str = ""
    # A version of what the notes are about, "4.0", and whether those after it are wanted
    version: str = ""
    is_later: bool = False
    # Which of the listed notes is wanted, from 1; 0 for all, and -1 for the last one
    pick: int = 0
    # How many pages of the list were shown after the first: the places are those of the last one
    page: int = 0
    # What is asked about it
    question: str = ""
    # Whether the folder may as well be a subject ("notes in German"), and the note nothing at all
    # ("summarize all")
    is_guess: bool = False
    # Whether the message is a look-up unless the notes suit it: "table of books", but not
    # "table of contents"
    may_be_lookup: bool = False
