"""Notes as other packages see them: chunks, references to documents, links and the index."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import Field

from zkchat_cli.models.base import Count, Quantity, Value, _LogValue
from zkchat_cli.models.images import Image

ReferenceType = Literal["direct", "search", "import", "memory"]

Delivery = Literal["injected", "partly", "offered", "left_out"]
"""How the model gets a document that the user named: whole (a text or a picture), some sections, or
only its summary with a request to read it. A picture can be left out.
"""

ReferenceStatus = Literal["found", "broken", "ambiguous"]

Similarities = Callable[[str, Sequence[str]], list[float] | None]
"""How similar texts are to a sentence or a question in meaning: cosines, or None without a model
that can tell.
"""


# In the title of a block, before the lines that show it: "Pump, shown in Pool:6"
SHOWN_IN = ", shown in "


class ContentChunk(_LogValue):
    """A chunk of a note that search finds and answers cite.

    `id` changes with the text or its position. `score` is comparable within one search only.
    `number` is what the model cites as `[number]`, unique in the conversation (see
    ReferenceManager).
    """

    id: str
    relative_path: str
    title: str
    heading: str | None = None
    start_line: Count
    end_line: Count
    text: str
    # The line that opens the block of code that the chunk begins within: ```python
    fence: str | None = None
    score: Quantity | None = None
    score_words: Quantity | None = None
    """The score by words alone. `score` combines it with the cosine of the chunk's best window.
    None without words or vectors.
    """
    score_meaning: Quantity | None = None
    number: Count | None = None

    def to_result(self) -> dict[str, Any]:
        """What other programs see of a result of search, as JSON values."""
        return self.model_dump(mode="json", exclude={"id", "number", "fence"})

    @property
    def markdown(self) -> str:
        """The text, below the fence of the code that it begins within: so it is read as code."""
        return self.text if self.fence is None else f"{self.fence}\n{self.text}"


class DocumentReference(_LogValue):
    """A document that a message names (`direct`) or imports (`import`), that a tool found
    (`search`), or that memory names (`memory`).
    """

    wikilink: str
    relative_path: str | None = None
    reference_type: ReferenceType
    summary: str | None = None
    context_snippet: str | None = None
    status: ReferenceStatus = "found"
    number: Count | None = None
    # The citation numbers of all its chunks; `number` is the first of them
    numbers: tuple[Count, ...] = ()
    heading: str | None = None
    # Headings of the sections that the prompt leaves out, if it has only a part of the document
    headings: tuple[str, ...] = ()
    # The nearest existing names for a broken link; the notes that were not chosen for an ambiguous
    # one
    candidates: tuple[str, ...] = ()
    delivery: Delivery | None = None
    # Why the document was delivered in this way, with the figures
    delivery_reason: str | None = None
    # The picture, if it is one that can be sent
    image: Image | None = None
    # Whether it is in each prompt until it is dropped; earlier prompts' copies are not sent again
    added: bool = False
    # A field of version 0.1: read and ignored
    above: Any = Field(False, exclude=True)

    @property
    def is_named(self) -> bool:
        """Whether the user named the document, by a link or a file's path."""
        return self.reference_type in ("direct", "import")

    @property
    def all_numbers(self) -> tuple[int, ...]:
        """The citation numbers of its chunks; `numbers` is empty in exports of old versions."""
        if self.numbers or self.number is None:
            return self.numbers
        return (self.number,)

    @property
    def candidate_links(self) -> tuple[str, ...]:
        """The candidates as links: `[[Filters]]`."""
        return tuple(f"[[{name}]]" for name in self.candidates)


class LinkResolution(Value):
    """One link of a text and its target. `candidates` are paths: the nearest notes of a broken
    link, the other matches of an ambiguous one.

    `reason` says why an ambiguous link got its target.
    """

    raw: str
    kind: Literal["wikilink", "markdown"]
    target: str | None
    heading: str | None = None
    alias: str | None = None
    embed: bool = False
    status: ReferenceStatus
    candidates: tuple[str, ...] = ()
    via: Literal["alias", "title", "id"] | None = None
    reason: str | None = None
    line: int = 1
    # The target as it is written: `a` in `[[a#h|b]]`
    text: str = ""
    # The end of the link in the text
    end: int = 0


class SemanticModelStatus(Value):
    """Progress of one model: the windows that it should embed (estimated until it is complete), and
    those that have a vector. `languages` is null for a model that knows many.
    """

    provider: str
    model: str
    languages: tuple[str, ...] | None
    windows: int
    embedded: int
    share: float
    complete: bool


class SemanticStatus(Value):
    """Progress of search by meaning: the windows of all chunks (estimated until it is complete),
    and those that have a vector of any of the `models`. `provider` and `model` are the first one's.
    """

    provider: str
    model: str
    windows: int
    embedded: int
    complete: bool
    models: tuple[SemanticModelStatus, ...] = ()


class IndexReport(Value):
    """The size of the index and the changes of the last refresh. `problems` names the notes that
    were skipped or decoded with errors.
    """

    notes: int
    chunks: int
    links: int
    broken_links: int
    added: int = 0
    changed: int = 0
    removed: int = 0
    seconds: float = 0.0
    # Progress of search by meaning; None if it is off
    semantic: SemanticStatus | None = None
    problems: tuple[str, ...] = ()
    # Why the whole index was rebuilt; None if it was not
    rebuilt: str | None = None
    # A change of notes that was stopped in the middle, and what to do about it; None without one,
    # and if an earlier refresh has reported it
    unfinished: str | None = None


class NoteUsage(Value):
    """How often the conversations about a vault have used a note."""

    relative_path: str
    conversations: int
    answers: int
    citations: int
    last_used: str
