"""Events, messages and results of commands as the protocol's values: the objects that go over the
line, with the protocol's names.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from zkchat_cli import events
from zkchat_cli.acp.connection import Json
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.marks import read_marks
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.models.reports import TurnReport
from zkchat_cli.slash.base import CommandResult
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools import find_tool
from zkchat_cli.tools.base import EditorKind
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.sources import evidence_lines, no_source_line, source_lines
from zkchat_cli.views.text import IN_CHAT, plain_text

# Most sources below an answer
MAX_SOURCES = 10
# Most characters of a tool's result, and of the title of a call, in the editor
MAX_RESULT = 2_000
MAX_TITLE = 100
# The shortest fence of a block of code
MIN_FENCE = 3


class Features(NamedTuple):
    """What an editor can show or do beyond the first version of the protocol."""

    compactions: bool = False
    notices: bool = False
    # Whether it can run the program in a terminal, so that the user stores a key
    terminal_login: bool = False


def reply_id(question_id: str, number: int) -> str:
    """The id of a reply to a question, as a message of the editor. Only the last reply is stored
    as the answer; those before it have called tools.
    """
    return f"{question_id}-{number}"


def replay(session: ZkChatSession, features: Features) -> Iterator[Json]:
    """Updates for the editor with the messages of a conversation that it loads, and where they were
    compacted.
    """
    compactions: dict[str | None, list[Compaction]] = {}
    for compaction in session.state.compactions:
        if features.compactions and not compaction.undone:
            compactions.setdefault(compaction.made_after, []).append(compaction)
    root = session.vault.root
    question_id = ""
    replies = 0
    for message in session.history:
        match message.role:
            case "user":
                question_id = message.id
                replies = 0
                yield _chunk("user_message_chunk", message.display_text, message.id)
            case "assistant":
                replies += 1
                yield from _replay_reply(message, reply_id(question_id, replies))
            case "tool":
                shown = truncate(message.content, MAX_RESULT)
                places = [
                    events.ExcerptPlace(chunk.relative_path, chunk.start_line)
                    for chunk in message.chunks
                ]
                found = place_values(places, root)
                yield tool_progress(message.tool_call_id or "", shown, found)
        for done in compactions.get(message.id, ()):
            yield compaction_update(done.id, "completed", done)


def _replay_reply(message: ZkChatMessage, message_id: str) -> Iterator[Json]:
    if message.reasoning:
        yield thought_chunk(message.reasoning, f"{message_id}-thought")
    if message.content:
        yield answer_chunk(message.content, message_id)
    for call in message.tool_calls:
        yield {**tool_started(call), "status": "completed"}


def result_text(result: CommandResult) -> str:
    """What a command shows, as a block of code; empty if it shows nothing.

    If it opens a note, the note's text.
    """
    opened = result.open_note.text if result.open_note is not None else ""
    shown = [text for text in (result.text, plain_text(result.lines), opened) if text]
    return code_block("\n".join(shown)) if shown else ""


def answer_chunk(text: str, message_id: str) -> Json:
    """A piece of the answer."""
    return _chunk("agent_message_chunk", text, message_id)


def thought_chunk(text: str, message_id: str) -> Json:
    """A piece of the model's reasoning, or a remark of zkchat."""
    return _chunk("agent_thought_chunk", text, message_id)


def _chunk(kind: str, text: str, message_id: str) -> Json:
    return {"sessionUpdate": kind, "content": text_block(text), "messageId": message_id}


def text_block(text: str) -> Json:
    """A text in the form of the protocol's content."""
    return {"type": "text", "text": text}


def notice(message: str, hint: str) -> Json:
    """A warning."""
    update: Json = {"sessionUpdate": "notice", "severity": "warning", "title": message}
    if hint:
        update["description"] = hint
    return update


def compaction_update(id_: str, status: str, done: Compaction | None = None) -> Json:
    """The state of a compaction, with the summary that it has made."""
    update: Json = {"sessionUpdate": "compaction_update", "compactionId": id_, "status": status}
    if done is not None and done.summary:
        update["summary"] = [text_block(done.summary)]
    return update


def tool_started(call: ToolCall) -> Json:
    """A call that begins, with its arguments in the title."""
    title = call.name
    arguments = ", ".join(map(str, call.arguments.values()))
    if arguments:
        title = f"{title}: {arguments}"
    return {
        "sessionUpdate": "tool_call",
        "toolCallId": call.id,
        "name": call.name,
        "title": truncate(title, MAX_TITLE),
        "kind": editor_kind(call.name),
        "status": "in_progress",
        "rawInput": call.arguments,
    }


def editor_kind(tool_name: str) -> EditorKind:
    """The kind that an editor shows for a tool.

    A tool that changes notes becomes an edit when the user is asked.
    """
    tool = find_tool(tool_name)
    return tool.editor_kind if tool is not None else "other"


def tool_progress(
    call_id: str, text: str = "", places: Sequence[Json] = (), *, status: str = ""
) -> Json:
    """An update of a call that has begun: its result, status or locations, as far as given."""
    update: Json = {"sessionUpdate": "tool_call_update", "toolCallId": call_id}
    if status:
        update["status"] = status
    if text:
        update["content"] = tool_content(text)
    if places:
        update["locations"] = list(places)
    return update


def tool_content(text: str) -> list[Json]:
    """A text as the content of a call; an empty list for an empty text."""
    return [{"type": "content", "content": text_block(text)}] if text else []


def change_content(change: Change, root: Path) -> list[Json]:
    """A proposed change of notes as diffs.

    Like the terminal, they make every character visible.
    """
    content = tool_content(change.note)
    for file in change.files:
        diff: Json = {"type": "diff", "path": str(root / file.new_path)}
        if file.path is not None:
            diff["oldText"] = _decoded(file.before)
        content.append({**diff, "newText": _decoded(file.after)})
    return content


def _decoded(content: bytes) -> str:
    return reveal_invisible(content.decode("utf-8", "replace"))


def place_values(places: Iterable[events.ExcerptPlace], root: Path) -> list[Json]:
    """The places of the excerpts in a tool's result: path and line."""
    return [{"path": str(root / place.relative_path), "line": place.start_line} for place in places]


def sources_text(report: TurnReport) -> str:
    """The sources below an answer, listed in the same way as in the terminal; empty if there are
    none.

    They first close a code block that was cut off.
    """
    named = [each for each in report.references if each.is_named]
    lines = source_lines(
        report.citations, named, report.uncited_statements, MAX_SOURCES, IN_CHAT.all_sources
    )
    lines = [*lines, *evidence_lines(report.evidence)]
    if lines:
        return f"\n{read_marks(report.answer).closing}\n\n{code_block(plain_text(lines))}"
    return f"\n\n{no_source_line(report.retrieval)}." if report.lacks_source else ""


def code_block(text: str) -> str:
    """Text in a code block, so that it looks as in the terminal.

    The fences are longer than any in the text, such as those of a message in `/show last`.
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(MIN_FENCE, longest + 1)
    return f"{fence}\n{text}\n{fence}"
