"""How prompts are written: what each model call was sent is a document with the numbers of its
pieces, so its size grows with the number of messages and not with their text. A piece is one
message or tool, compressed and stored once per conversation under the hash of its JSON.

The log's messages and the summary that a piece quotes whole are not stored again: that saves 15 MB
of 44 in a conversation of 1000 turns with tools.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from zkchat_cli.models.archive import ArchivedCall, ArchivedPrompts
from zkchat_cli.models.prompts import Prompt, PromptMessage, PromptTool, SentPrompt
from zkchat_cli.store import codec
from zkchat_cli.text.words import replace_surrogates

# Characters: a shorter source is often found by chance
_MIN_QUOTED = 40
_HASH_BYTES = 16
# The lists of piece numbers in a prompt's document
_MESSAGES = "messages"
_TOOLS = "tools"


class PieceDocument(NamedTuple):
    """A message or tool of a prompt, and the hash under which it is stored."""

    piece: PromptMessage | PromptTool
    document: dict[str, Any]
    digest: bytes

    @classmethod
    def of(cls, piece: PromptMessage | PromptTool) -> "PieceDocument":
        """The document of a piece, with its whole text."""
        document = piece.model_dump(mode="json", exclude_defaults=True)
        digest = blake2b(codec.encode(document), digest_size=_HASH_BYTES).digest()
        return cls(piece, document, digest)

    @property
    def source_ids(self) -> list[str]:
        """The messages and summaries that a long piece may quote."""
        if not isinstance(self.piece, PromptMessage):
            return []
        if len(self.piece.content) <= codec.MIN_COMPRESSED:
            return []
        return [replace_surrogates(id_) for id_ in self.piece.source_ids]

    def body(self, texts: Mapping[str, str]) -> bytes:
        """The piece as it is stored, cut where it quotes a source whole. `texts` has the texts of
        its sources by their ids.
        """
        content = [self.document.get("content", "")]
        quoted: list[int] = []
        for number, id_ in enumerate(self.source_ids):
            source = texts[id_]
            if len(source) >= _MIN_QUOTED and source in content[-1]:
                before, after = content.pop().split(source, maxsplit=1)
                content += [before, after]
                quoted.append(number)
        cut = {"content": content, "quoted": quoted} if quoted else {}
        return codec.compress(self.document | cut)


def read_piece(body: bytes, texts: Mapping[str, str]) -> dict[str, Any]:
    """The document of a stored piece with its whole content. Raises ValueError or LookupError for a
    damaged one.
    """
    document: dict[str, Any] = codec.decompress(body)
    if isinstance(document.get("content"), list):
        quoted = document.pop("quoted", [0])
        content, *others = document["content"]
        for number, after in zip(quoted, others, strict=True):
            source = texts[document["source_ids"][number]]
            if not source:
                raise ValueError("the source of a prompt's message is missing")
            content += source + after
        document["content"] = content
    return document


def archived_call(sent: SentPrompt) -> ArchivedCall:
    """What is stored of a model call besides its messages and tools."""
    prompt = sent.prompt
    return ArchivedCall(
        question_id=sent.question_id,
        model=sent.model,
        usage=sent.usage,
        strategy=prompt.strategy,
        dropped=prompt.dropped,
        figures=prompt.usage,
    )


def call_body(call: ArchivedCall, messages: Sequence[int], tools: Sequence[int]) -> bytes:
    """A model call as it is stored, with the numbers of its messages' and tools' pieces; the lists
    in `call` are not read.
    """
    document = call.model_dump(
        mode="json", exclude={"question_id", _MESSAGES, _TOOLS}, exclude_defaults=True
    )
    document[_MESSAGES] = _to_differences(messages)
    document[_TOOLS] = _to_differences(tools)
    return codec.compress(document)


def _to_differences(numbers: Sequence[int]) -> list[int]:
    """The first number, then what is added to each for the next: these compress to a tenth."""
    return [*numbers[:1], *(after - before for before, after in pairwise(numbers))]


def read_call(question_id: str, body: bytes) -> dict[str, Any]:
    """The document of a stored call, with the numbers of its pieces."""
    call: dict[str, Any] = codec.decompress(body) | {"question_id": question_id}
    for name in (_MESSAGES, _TOOLS):
        call[name] = [*accumulate(call[name])]
    return call


def needed_pieces(calls: Iterable[Mapping[str, Any]]) -> set[int]:
    """The numbers of all pieces of these calls."""
    needed: set[int] = set()
    for call in calls:
        needed.update(call[_MESSAGES], call[_TOOLS])
    return needed


def make_archive(
    calls: Sequence[dict[str, Any]], pieces: Mapping[int, dict[str, Any]]
) -> ArchivedPrompts:
    """The prompts of these calls. Raises LookupError if a piece is missing."""
    messages: list[dict[str, Any]] = []
    tools: list[dict[str, Any]] = []
    index: dict[int, int] = {}
    for number, piece in pieces.items():
        listed = tools if "descriptor" in piece else messages
        index[number] = len(listed)
        listed.append(piece)
    for call in calls:
        for name in (_MESSAGES, _TOOLS):
            call[name] = [index[number] for number in call[name]]
    return ArchivedPrompts.model_validate({"messages": messages, "tools": tools, "calls": calls})


SummaryEnd = Callable[[str], str | None]
"""Finds the last message that a summary covers, by the id of the compaction that a prompt had."""


def sent_prompts(archive: ArchivedPrompts, summary_end: SummaryEnd) -> tuple[SentPrompt, ...]:
    """The prompts of one question's calls."""
    sent: list[SentPrompt] = []
    for number, call in enumerate(archive.calls, start=1):
        prompt = Prompt(
            messages=tuple(archive.messages[n] for n in call.messages),
            tools=tuple(archive.tools[n] for n in call.tools),
            usage=call.figures,
            dropped=call.dropped,
            strategy=call.strategy,
        )
        sent.append(
            SentPrompt(
                question_id=call.question_id,
                call=number,
                prompt=prompt,
                summarized_through=_summarized_through(prompt, summary_end),
                model=call.model,
                usage=call.usage,
            )
        )
    return tuple(sent)


def _summarized_through(prompt: Prompt, summary_end: SummaryEnd) -> str | None:
    """The id of the last message that the summary in a prompt covers; None without a summary."""
    for message in prompt.messages:
        if message.kind == "summary" and message.source_ids:
            id_, *_ = message.source_ids
            return summary_end(id_)
    return None
