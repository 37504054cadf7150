"""What a prompt is made of, in a few lines: `ask --show-context` prints them before the answer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.models.prompts import Prompt, PromptKind, PromptMessage
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.prompts import delivery_lines
from zkchat_cli.views.text import short_count

# Characters of the name of a document, a memory file or a fact, and of a recalled passage
MAX_NAME = 60
MAX_PASSAGE = 80
# Names that are listed; the others are only counted
MOST_NAMES = 8
# The first line of a recalled passage
_PASSAGE = lazy_pattern(r"^(?:user|assistant): .*")
_FACTS = "<smart-memory"
_AGENT = "agent:"
_USER = "user:"


def overview_lines(prompt: Prompt) -> Iterator[str]:
    """The components of a prompt with their tokens: tools, summaries, memory, documents, imported
    files and messages, each by its name.
    """
    usage = prompt.usage
    mark = "~" if usage.estimated else ""
    yield (
        f"Context: {mark}{usage.total_tokens:,} of {usage.effective_limit:,} tokens, strategy "
        f"{prompt.strategy}"
    )
    names = [tool.name for tool in prompt.tools]
    if names:
        listed = _listed(names)
        yield f"  - {plural(len(names), 'tool')}{_tokens(usage.tool_tokens, mark)}: {listed}"
    for kind in dict.fromkeys(message.kind for message in prompt.messages):
        messages = [message for message in prompt.messages if message.kind == kind]
        for part in _kind_lines(kind, messages, prompt.documents, mark):
            yield f"  - {part}"
        if kind == "recalled":
            yield from _passage_lines(messages)
    yield from delivery_lines(prompt)


def _kind_lines(
    kind: PromptKind,
    messages: Sequence[PromptMessage],
    documents: Sequence[DocumentReference],
    mark: str,
) -> Iterator[str]:
    """The lines about the messages of a kind."""
    if kind == "memory":
        for message in messages:
            yield _memory_line(message, mark)
        return
    match kind:
        case "system":
            text = "instructions"
        case "summary":
            text = plural(len(messages), "summary", "summaries")
        case "documents":
            text = _documents_text(messages, documents)
        case "tool_results":
            text = plural(len(messages), "tool result")
        case "recalled":
            passages = sum(len(message.source_ids) for message in messages)
            text = plural(passages, "recalled message")
        case "conversation":
            text = plural(len(messages), "recent message")
    yield text + _tokens(sum(message.tokens for message in messages), mark)


def _tokens(tokens: int, mark: str) -> str:
    return f" ({mark}{short_count(tokens)} tokens)"


def _listed(names: Sequence[str]) -> str:
    """The names, or the first of them with the number of the others."""
    listed = [truncate(name, MAX_NAME) for name in names[:MOST_NAMES]]
    if len(names) > MOST_NAMES:
        listed.append(f"{len(names) - MOST_NAMES} more")
    return ", ".join(listed)


def _memory_line(message: PromptMessage, mark: str) -> str:
    """A memory file by its name, or the remembered facts and notes by theirs."""
    tokens = _tokens(message.tokens, mark)
    if message.content.startswith(_FACTS):
        names = [id_.removeprefix("fact:") for id_ in message.source_ids]
        return f"{plural(len(names), 'memory', 'memories')}{tokens}: {_listed(names)}"
    [source] = message.source_ids
    if source.startswith(_USER):
        return f"your own memory file{tokens}"
    if source.startswith(_AGENT):
        return f"memory of the agent {source.removeprefix(_AGENT)}{tokens}"
    return f"{truncate(source, MAX_NAME)} project memory{tokens}"


def _documents_text(
    messages: Iterable[PromptMessage], documents: Iterable[DocumentReference]
) -> str:
    """The notes and files that messages name, and how many other excerpts were found for them."""
    links: dict[str, str] = {}
    files: dict[str, str] = {}
    for each in documents:
        if each.relative_path is not None and each.is_named:
            names = files if each.reference_type == "import" else links
            names[each.relative_path] = each.wikilink
    known = links | files
    sent = [chunk.relative_path for message in messages for chunk in message.chunks]
    found = len([path for path in sent if path not in known])
    return ", ".join(_document_counts(links, files, found)) or "documents"


def _document_counts(
    named: Mapping[str, str], imported: Mapping[str, str], found: int
) -> list[str]:
    """The numbers of named notes, imported files and found excerpts, those that are not 0."""
    parts: list[str] = []
    if named:
        parts.append(f"{plural(len(named), 'named note')} ({_listed([*named.values()])})")
    if imported:
        files = _listed([*imported.values()])
        parts.append(f"{plural(len(imported), 'imported file')} ({files})")
    if found:
        parts.append(plural(found, "found excerpt"))
    return parts


def _passage_lines(messages: Iterable[PromptMessage]) -> Iterator[str]:
    """The first line of each recalled passage."""
    for message in messages:
        for line in message.content.splitlines():
            if _PASSAGE.match(line):
                yield f"      {truncate(line, MAX_PASSAGE)}"
