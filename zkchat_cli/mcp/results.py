"""What the tools return. Their JSON schemas are the tools' output schemas.

`more` says how to get the rest if a result was capped; it is null if nothing was left out.
"""

from zkchat_cli.citations.quotes import QuotationVerdict
from zkchat_cli.models import LinkResolution, Quantity, Role, Value


class Passage(Value):
    relative_path: str
    title: str
    heading: str | None
    start_line: int
    end_line: int
    score: Quantity | None
    score_words: Quantity | None
    score_meaning: Quantity | None
    text: str


class SearchResults(Value):
    results: list[Passage]
    more: str | None


class NoteText(Value):
    relative_path: str
    start_line: int
    end_line: int
    lines: int
    text: str
    more: str | None


class ResolvedLinks(Value):
    links: list[LinkResolution]


class NoteLink(Value):
    source: str
    target: str | None
    raw: str
    line: int
    context_snippet: str


class NoteLinks(Value):
    relative_path: str
    links: list[NoteLink]
    more: str | None


class LinkPathResult(Value):
    source: str
    target: str
    notes: list[str] | None
    links: list[NoteLink] | None


class ListedNote(Value):
    relative_path: str
    title: str
    tags: list[str]


class NoteList(Value):
    total: int
    notes: list[ListedNote]
    more: str | None


class VerifiedQuotation(Value):
    quote: str
    verdict: QuotationVerdict
    relative_path: str | None
    heading: str | None
    start_line: int | None
    end_line: int | None
    nearest: str | None


class Verification(Value):
    quotations: list[VerifiedQuotation]
    ok: bool


class ConversationMatch(Value):
    conversation_id: str
    title: str | None
    message_id: str
    role: Role
    timestamp: str
    snippet: str
    score: float


class ConversationMatches(Value):
    results: list[ConversationMatch]


class TokenCount(Value):
    tokens: int
    encoding: str
    estimated: bool
    characters: int


class MadeChange(Value):
    done: str
    note: str | None
    paths: list[str]
