"""The drawer of export formats: each file here declares `EXPORTER`, and a new format is one new file.

An exporter turns a conversation into text and does nothing else; where the text goes is the caller's business. Most of them are made
from the ConversationArchive, and what the readable ones ask of it stands here once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from json import dumps  # the name `json` is taken here, by the drawer's own file
from typing import Any, Literal

from zkchat_cli.models import Compaction, ConversationArchive, DocumentReference, ToolCall, ZkChatMessage
from zkchat_cli.text.truncate import truncate

SPEAKERS = {"user": "You", "assistant": "zkchat", "system": "System"}

UNANSWERED = {
    "pending": "Not answered yet.",
    "unfinished": "Unfinished: the answer was cut off here.",
    "failed": "Failed: there is no answer.",
}
"""What is said of a message that is not complete."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format by the `name` one types; `suffix` (`.md`) for files of it, `help` in a few words.

    `export` gets the conversation's archive, with the prompts of its calls if it asks for `prompts`; of a format that is `of` the next
    "call", the request of that, as the model's server would get it (a JSON document).
    """

    name: str
    suffix: str
    help: str
    export: Callable[[Any], str]
    of: Literal["conversation", "call"] = "conversation"
    prompts: bool = False


def schema() -> dict[str, Any]:
    """The JSON Schema of the lossless format: every export of its version is valid by it, and it tells other programs what to write."""
    version = ConversationArchive.model_fields["version"].default
    made = ConversationArchive.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:zkchat:conversation:{version}",
        **made,
        "required": ["format", "version", *made["required"]],
    }


def branch(archive: ConversationArchive) -> list[ZkChatMessage]:
    """The current branch, from its root to the head."""
    by_id = {message.id: message for message in archive.messages}
    found: list[ZkChatMessage] = []
    at = archive.conversation.head_id
    while at is not None:
        found.append(by_id[at])
        at = found[-1].parent_id
    return found[::-1]


def summaries(archive: ConversationArchive, messages: Sequence[ZkChatMessage]) -> list[Compaction]:
    """The summaries that hold for these messages, oldest first. Each took the one before it in, so the last one says it all: a page with
    every one of them would grow with the square of the conversation."""
    there = {message.id for message in messages}
    held = (each for each in archive.compactions if each.summary and not each.undone)
    return [each for each in held if each.last_id is None or each.last_id in there]


def title(archive: ConversationArchive) -> str:
    """The conversation's title on one line, or its day."""
    return " ".join((archive.conversation.title or "").split()) or f"Conversation of {archive.conversation.created_at[:10]}"


def folded_in(compaction: Compaction) -> str:
    """What a summary stands for, in figures."""
    return f"{compaction.messages_folded} messages, {compaction.tokens_before:,} → {compaction.tokens_after:,} tokens"


def tool_answers(messages: Sequence[ZkChatMessage]) -> dict[tuple[str, str], ZkChatMessage]:
    """By the message that called and the call's id: some models number their calls anew in each message."""
    answers: dict[tuple[str, str], ZkChatMessage] = {}
    caller = ""
    for message in messages:
        if message.role == "tool":
            answers[caller, message.tool_call_id or ""] = message
        else:
            caller = message.id
    return answers


def asked(call: ToolCall) -> str:
    """A tool call's arguments in short."""
    return truncate(", ".join(dumps(value, ensure_ascii=False) for value in call.arguments.values()), 80)


def brought(answer: ZkChatMessage | None) -> str:
    """What a tool call came to, in a few words; empty where nothing says so."""
    if answer is None or answer.tool_run is None:
        return ""
    if not answer.tool_run.ok:
        return "failed"
    count = len(answer.chunks)
    excerpts = f"{count} excerpt{'s' if count > 1 else ''}, " if count else ""
    return f"{excerpts}{answer.tool_run.tokens} tokens"


def not_cited(messages: Sequence[ZkChatMessage]) -> list[DocumentReference]:
    """The documents, each once, that these messages name or tools supplied and no answer among them cites; broken links are among them."""
    cited = {citation.relative_path for message in messages for citation in message.citations}
    found: dict[str, DocumentReference] = {}
    for message in messages:
        for reference in message.references:
            if reference.relative_path is None or reference.relative_path not in cited:
                found.setdefault(reference.relative_path or reference.wikilink, reference)
    return list(found.values())


def came_in(reference: DocumentReference) -> str:
    """How a document came into the conversation and how it was delivered, in words."""
    if reference.relative_path is None:
        near = ", ".join(f"[[{name}]]" for name in reference.candidates)
        return f"not found{f'; nearest: {near}' if near else ''}"
    words = [_CAME_IN[reference.reference_type], _DELIVERED.get(reference.delivery or "", "")]
    return ", ".join(filter(None, words))


_CAME_IN = {
    "direct": "named",
    "import": "imported",
    "link": "linked from a note that was named",
    "memory": "from memory",
    "search": "found",
}

_DELIVERED = {
    "injected": "its text was in the prompt",
    "partly": "a part of it was in the prompt",
    "offered": "offered to the model to read",
}
