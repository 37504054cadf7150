"""The request of a model call, as `context export --format context` writes it, and as programs send
it to OpenAI's chat completions, its Responses API, Ollama and Anthropic.

A request has no ids, times, references and branches, so these are new or missing. Everything else
becomes a message: also documents, a summary and passages, which zkchat has put between the turns.
Only its own instructions and memory files at the beginning are left out: each prompt has those of
today.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from zkchat_cli.chat.turn_recorder import default_title
from zkchat_cli.context.instructions import SUBJECT
from zkchat_cli.importers._imported_messages import ImportedMessage, ImportedSession
from zkchat_cli.importers.base import DocumentImporter, Record, is_added, texts_of, validate
from zkchat_cli.models.archive import ConversationArchive

# How the texts at the beginning of a request begin that each prompt has anyway
_INSTRUCTIONS = (SUBJECT, "<project-memory", "<user-memory", "<agent-memory")


def _is_request(document: Any) -> bool:
    if not isinstance(document, dict) or not isinstance(document.get("model"), str):
        return False
    return any(isinstance(document.get(name), list) for name in ("messages", "input"))


def _read(
    document: Any, vault: str, new_id: Callable[[], str], now: str
) -> list[ConversationArchive]:
    records = list(_records(document))
    zone = datetime.fromisoformat(now).tzinfo
    session = ImportedSession(messages=validate(list[ImportedMessage], records, zone))
    archive = session.archive(vault, new_id, now)
    questions = [each.content for each in session.messages if each.role == "user"]
    title = next((text for text in questions if not is_added(text)), "")
    named = archive.conversation.model_copy(update={"title": default_title(title) or None})
    return [archive.model_copy(update={"conversation": named})]


def _records(document: Record) -> Iterator[Record]:
    """The messages of a request as those of a plain list."""
    system = document.get("system") or document.get("instructions") or []
    first = [{"role": "system", "content": part} for part in _system_texts(system)]
    items = document["messages"] if "messages" in document else document["input"]
    model = document["model"]
    at_beginning = True
    for record in chain.from_iterable(map(_item_records, (*first, *items))):
        role = record.get("role") if isinstance(record, dict) else None
        at_beginning = at_beginning and role in ("system", "developer")
        if at_beginning and str(record.get("content")).startswith(_INSTRUCTIONS):
            continue
        yield {**record, "model": model} if role == "assistant" else record


def _system_texts(system: Any) -> list[str]:
    if isinstance(system, str):
        return [system]
    return texts_of(system) if isinstance(system, list) else []


def _item_records(item: Any) -> Iterator[Any]:
    """The messages of an entry; one of an unknown form is left for the validation to refuse."""
    if not isinstance(item, dict):
        yield item
        return
    kind = item.get("type")
    if kind == "function_call":
        call = {**item, "id": item.get("call_id")}
        yield {"role": "assistant", "content": "", "tool_calls": [call]}
    elif kind == "function_call_output":
        call_id = item.get("call_id")
        yield {"role": "tool", "content": item.get("output"), "tool_call_id": call_id}
    elif kind == "reasoning":
        # Encrypted, and of no use to another call
        return
    elif isinstance(item.get("content"), list):
        yield from _block_records(item, item["content"])
    else:
        yield item


def _block_records(item: Mapping[str, Any], blocks: Iterable[Any]) -> Iterator[Record]:
    """The messages of one with blocks: Anthropic has consecutive messages of a role in one, and
    results of tools in a user's.
    """
    if item.get("role") == "assistant":
        yield _answer_record(item, blocks)
        return
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            text = _result_text(block.get("content"))
            yield {"role": "tool", "content": text, "tool_call_id": block.get("tool_use_id")}
            continue
        for text in _block_texts(block):
            yield {"role": item.get("role"), "content": text}


def _answer_record(item: Mapping[str, Any], blocks: Iterable[Any]) -> Record:
    """An answer with blocks as one message."""
    calls: list[Record] = []
    texts: list[str] = []
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_use":
            calls.append({**block, "arguments": block.get("input")})
        else:
            texts += _block_texts(block)
    own = item.get("tool_calls") or calls
    return {**item, "content": "\n".join(texts), "tool_calls": own or None}


def _block_texts(block: Any) -> list[str]:
    """The text of a block, if it has one."""
    if isinstance(block, dict) and block.get("type") == "search_result":
        return [_excerpt_text(block)]
    return texts_of([block])


def _result_text(content: Any) -> str:
    if not isinstance(content, list):
        return content or ""
    texts: list[str] = []
    for block in content:
        texts += _block_texts(block)
    return "\n\n".join(texts)


def _excerpt_text(block: Mapping[str, Any]) -> str:
    """An excerpt that Claude got as a search result, with its number and place."""
    content = block.get("content")
    lines = "".join(texts_of(content)) if isinstance(content, list) else ""
    return f"{block.get('title')} ({block.get('source')})\n{lines}"


IMPORTER = DocumentImporter(kind="a request", recognizes=_is_request, read=_read)
