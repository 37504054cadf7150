"""The protocol of an exporter, and what the readable formats share.

An exporter turns a conversation into text and does nothing else; the caller decides where the text
goes.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from zkchat_cli.errors import UsageError, nearest_names, on_one_line
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.citations import Citation, FoundSentence
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ToolCall, ZkChatMessage, branch_to
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.text.numbers import line_range, plural
from zkchat_cli.text.truncate import format_arguments, truncate

_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Characters of a tool call's arguments
MAX_ARGUMENTS = 80
SPEAKERS = {"user": "You", "assistant": "zkchat", "system": "System"}

NO_SOURCE = "no such source was in the prompt"
UNSUPPORTED = "the note does not seem to say what the answer says here"
FOUND_BY_ZKCHAT = "Found by zkchat in your notes"
_ORIGINS = {"direct": "named", "import": "imported", "memory": "from memory", "search": "found"}
DELIVERIES: Mapping[str | None, str] = {
    "injected": "its full text was in the prompt",
    "partly": "sections of it were in the prompt",
    "offered": "the model got its summary, not its text",
    "left_out": "it was not sent",
}
STATUS_NOTES = {
    "pending": "Not answered yet.",
    "unfinished": "Unfinished: the answer was cut off here.",
    "failed": "Failed: there is no answer.",
}


class Exporter(NamedTuple):
    """A format. Its files end with `suffix` (`.md`). `export` takes the conversation's archive,
    with past prompts if `prompts` is set; or, with `of` "call", the request of the next model call
    as a JSON document.
    """

    suffix: str
    export: Callable[[Any], str]
    of: Literal["conversation", "call"] = "conversation"
    prompts: bool = False


def current_branch(archive: ConversationArchive) -> tuple[ZkChatMessage, ...]:
    """The messages of the current branch, without answers that ended before their first word.
    Raises UsageError if there are none.
    """
    branch = branch_to(archive.messages, archive.conversation.head_id)
    if not branch:
        raise UsageError(
            "there is nothing to export yet",
            "Ask something first; after /undo or /clear, the format json has the whole log.",
        )
    return tuple(message for message in branch if not _is_empty_answer(message))


def _is_empty_answer(message: ZkChatMessage) -> bool:
    """Whether an answer ended before its first word and its first tool call."""
    return message.role == "assistant" and not message.content and not message.tool_calls


def current_summary(
    archive: ConversationArchive, messages: Sequence[ZkChatMessage]
) -> Compaction | None:
    """The last summary of these messages, which includes the earlier ones."""
    ids = {None, *(message.id for message in messages)}
    for compaction in reversed(archive.compactions):
        if compaction.summary and not compaction.undone and compaction.last_id in ids:
            return compaction
    return None


def conversation_title(archive: ConversationArchive) -> str:
    """The title on one line, or the date of a conversation that has none."""
    title = " ".join((archive.conversation.title or "").split())
    return title or f"Conversation of {archive.conversation.created_at[:10]}"


def model_names(messages: Iterable[ZkChatMessage]) -> str:
    """The models that answered, each once, separated by commas."""
    return ", ".join(dict.fromkeys(message.model for message in messages if message.model))


def compaction_figures(compaction: Compaction) -> str:
    """The size of a summary and of what it replaces: `10 messages, 8,120 → 1,900 tokens`."""
    return (
        f"{plural(compaction.messages_folded, 'message')}, {compaction.tokens_before:,} → "
        f"{compaction.tokens_after:,} tokens"
    )


def tool_results(messages: Sequence[ZkChatMessage]) -> dict[tuple[str, str], ZkChatMessage]:
    """The results of tools by the ids of the calling message and of the call: some models number
    the calls of each message from 1.
    """
    results: dict[tuple[str, str], ZkChatMessage] = {}
    caller = ""
    for message in messages:
        if message.role == "tool":
            results[caller, message.tool_call_id or ""] = message
        else:
            caller = message.id
    return results


def describe_arguments(call: ToolCall) -> str:
    """The arguments of a call in a few words."""
    return truncate(format_arguments(call.arguments), MAX_ARGUMENTS)


def describe_result(result: ZkChatMessage | None) -> str:
    """A tool's result in a few words; empty if it is unknown."""
    if result is None or result.tool_run is None:
        return ""
    if not result.tool_run.ok:
        return "failed"
    excerpts = f"{plural(len(result.chunks), 'excerpt')}, " if result.chunks else ""
    return excerpts + plural(result.tool_run.tokens, "token")


def evidence_items(evidence: Iterable[FoundSentence]) -> list[str]:
    """The sentences that zkchat has found for an answer, each with its note."""
    items = []
    for found in evidence:
        # A note's first heading is mostly its name
        is_name = found.heading is None or f"[[{found.heading}]]" == found.wikilink
        heading = "" if is_name else f" › {found.heading}"
        items.append(f"“{found.quote}” {found.wikilink}{heading}")
    return items


def uncited_references(messages: Sequence[ZkChatMessage]) -> list[DocumentReference]:
    """The documents that these messages reference and none of them cites, each once; broken links
    are among them.
    """
    cited: set[str | None] = set()
    for message in messages:
        cited.update(citation.relative_path for citation in message.citations)
    found: dict[str, DocumentReference] = {}
    for message in messages:
        for reference in message.references:
            if reference.relative_path is None or reference.relative_path not in cited:
                found.setdefault(reference.relative_path or reference.wikilink, reference)
    return list(found.values())


def describe_reference(reference: DocumentReference) -> str:
    """How a document came into the conversation and how it was delivered."""
    if reference.relative_path is None:
        return on_one_line("not found", nearest_names(reference.candidate_links))
    origin = _ORIGINS[reference.reference_type]
    if reference.image is not None and reference.delivery == "injected":
        image = reference.image
        return f"{origin}, the picture was in the prompt ({image}, sha256 {image.short_hash})"
    delivery = DELIVERIES.get(reference.delivery)
    return f"{origin}, {delivery}" if delivery else origin


def front_matter(fields: Mapping[str, str | None]) -> str:
    """The values as JSON strings, which are valid YAML for any content."""
    lines = ["---"]
    for name, value in fields.items():
        lines.append(f"{name}: {json.dumps(value, ensure_ascii=False)}")
    lines.append("---")
    return escape_for_yaml("\n".join(lines))


def escape_for_yaml(text: str) -> str:
    """JSON without the characters that YAML does not allow."""
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def describe_uncited(count: int) -> str:
    """How many sentences of an answer have no citation."""
    verb = "has" if count == 1 else "have"
    return f"{plural(count, 'sentence')} {verb} no citation"


def describe_misattribution(citation: Citation) -> str:
    """Where the words of a quotation with another number are."""
    return f"the words are in [{citation.found_in}] {citation.found_at}"


def quotation_doubt(citation: Citation) -> str:
    """What is wrong with a quotation; empty if nothing is."""
    if "not_checked" in citation.remarks:
        return " *(imported, and not checked here)*"
    if citation.verdict == "misquoted":
        return " *(not verified: the quoted words are not there)*"
    if citation.verdict == "misattributed":
        return f" *(not verified: {describe_misattribution(citation)})*"
    if citation.verdict == "cut":
        return f" *(the quotation is cut; the note says: “{citation.sentence}”)*"
    return ""


def format_location(source: Citation | ContentChunk | FoundSentence) -> str:
    """Path and lines, for example `Queries/Filters.md:12-14`."""
    path = source.relative_path or ""
    if source.start_line is None:
        return path
    return f"{path}:{line_range(source.start_line, source.end_line)}"
