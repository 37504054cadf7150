"""The messages of the Agent Client Protocol: pure functions from events and values to updates for the editor, and from prompts to text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from acp import schema

from zkchat_cli import slash
from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.marks import read_marks
from zkchat_cli.models import ToolCall, ToolRun, TurnReport, ZkChatMessage
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.sources import no_source_line, source_lines
from zkchat_cli.views.text import plain_text

MAX_SOURCES = 10
MAX_RESULT = 2_000  # characters of a tool's result that the editor shows
KINDS: dict[str, Any] = {"read_zk_document": "read", "find_excerpts": "search", "find_zk_documents_related_to": "search"}
"""The kind that an editor shows for a tool. One that changes notes becomes an edit when the user is asked."""
TERMINAL_ONLY = frozenset(("quit", "copy", "open", "edit", "new", "resume", "sessions", "clear", "branches", "verbose"))
"""Commands of the terminal, for which the editor has its own way, or which change only what a terminal shows."""

Update = Any  # one of the protocol's session updates


def text_block(text: str) -> schema.TextContentBlock:
    return schema.TextContentBlock(type="text", text=text)


def _tool_content(text: str) -> list[schema.ContentToolCallContent]:
    return [schema.ContentToolCallContent(type="content", content=text_block(text))] if text else []


def answer_chunk(text: str) -> Update:
    return schema.AgentMessageChunk(session_update="agent_message_chunk", content=text_block(text))


def thought_chunk(text: str) -> Update:
    return schema.AgentThoughtChunk(session_update="agent_thought_chunk", content=text_block(text))


def tool_started(call: ToolCall) -> Update:
    return schema.ToolCallStart(
        session_update="tool_call",
        tool_call_id=call.id,
        title=truncate(": ".join(filter(None, (call.name, ", ".join(map(str, call.arguments.values()))))), 100),
        kind=KINDS.get(call.name, "other"),
        status="in_progress",
        raw_input=call.arguments,
    )


def tool_finished(call: ToolCall, run: ToolRun) -> Update:
    status, content = "completed" if run.ok else "failed", _tool_content(run.outcome) or None
    return schema.ToolCallProgress(session_update="tool_call_update", tool_call_id=call.id, status=status, content=content)


def tool_locations(message: ZkChatMessage, root: Path) -> Update | None:
    """Where the excerpts of a tool's result are: path and line; None if it found none."""
    if not message.chunks or message.tool_call_id is None:
        return None
    locations = [schema.ToolCallLocation(path=str(root / chunk.relative_path), line=chunk.start_line) for chunk in message.chunks]
    return schema.ToolCallProgress(session_update="tool_call_update", tool_call_id=message.tool_call_id, locations=locations)


def replay(history: Iterable[ZkChatMessage], root: Path) -> Iterator[Update]:
    for message in history:
        if message.role == "user":
            yield schema.UserMessageChunk(session_update="user_message_chunk", content=text_block(message.display_text))
        elif message.role == "assistant":
            if message.reasoning:
                yield thought_chunk(message.reasoning)
            if message.content:
                yield answer_chunk(message.content)
            for call in message.tool_calls:
                yield tool_started(call).model_copy(update={"status": "completed"})
        elif message.role == "tool":
            if (update := tool_locations(message, root)) is not None:
                yield update
            content, id_ = _tool_content(truncate(message.content, MAX_RESULT)), message.tool_call_id or ""
            yield schema.ToolCallProgress(session_update="tool_call_update", tool_call_id=id_, content=content)


def sources_text(report: TurnReport) -> str:
    """The sources below an answer, as the terminal lists them; empty if there are none. They end a code block that was cut off."""
    named = [each for each in report.references if each.reference_type in ("direct", "import")]
    lines = source_lines(report.citations, named, report.uncited_statements, MAX_SOURCES)
    if lines:
        return f"\n{read_marks(report.answer).closing}\n\n{code_block(plain_text(lines))}"
    return f"\n\n{no_source_line(report)}." if report.lacks_source else ""


def code_block(text: str) -> str:
    """Text as the terminal shows it. The fences are longer than any in the text, such as those of a message in `/show last`."""
    fence = "`" * max([3, *(1 + len(marks) for marks in re.findall("`+", text))])
    return f"{fence}\n{text}\n{fence}"


def permission_for_change(call_id: str, change: Change, root: Path) -> schema.ToolCallUpdate:
    """A proposed change with its diffs, to be accepted or declined. As in the terminal, they hide no character."""
    diffs = [
        schema.FileEditToolCallContent(
            type="diff",
            path=str(root / file.new_path),
            old_text=None if file.path is None else reveal_invisible(file.before.decode("utf-8", "replace")),
            new_text=reveal_invisible(file.after.decode("utf-8", "replace")),
        )
        for file in change.files
    ]
    locations = [schema.ToolCallLocation(path=str(root / file.new_path)) for file in change.files]
    return schema.ToolCallUpdate(
        tool_call_id=call_id, title=change.summary, kind="edit", content=[*_tool_content(change.note), *diffs], locations=locations
    )


def session_modes(session: ZkChatSession) -> schema.SessionModeState:
    names = [NO_AGENT, *(name for name in session.agent_names() if name != NO_AGENT)]
    available = [schema.SessionMode(id=name, name="No agent" if name == NO_AGENT else name) for name in names]
    agent = session.runtime.agent
    return schema.SessionModeState(current_mode_id=agent.name if agent is not None else NO_AGENT, available_modes=available)


def available_commands() -> Update:
    commands = []
    for command in slash.commands():
        if command.name not in TERMINAL_ONLY:
            hint = command.argument.strip("[]")
            given = schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint=hint)) if hint else None
            commands.append(schema.AvailableCommand(name=command.name, description=command.help, input=given))
    return schema.AvailableCommandsUpdate(session_update="available_commands_update", available_commands=commands)


def read_prompt(blocks: Sequence[Any], root: Path) -> tuple[str, str]:
    """The message of an editor's prompt, and the part of it that the user typed: text of the editor must not import files.

    A note that is attached by its address becomes a link to it; attached text comes before what was typed.
    """
    typed: list[str] = []
    attached: list[str] = []
    for block in blocks:
        if block.type == "text":
            typed.append(block.text)
        elif block.type == "resource_link":
            path = note_path(block.uri, root)
            if path and not re.search(r"[][|#^\n]", path):
                typed.append(f"[[{path}]]")
            else:
                attached.append(f"See {block.name} ({block.uri})")
        elif block.type == "resource" and isinstance(getattr(block.resource, "text", None), str):
            attached.append(f"From {note_path(block.resource.uri, root) or block.resource.uri}:\n{block.resource.text}")
    text = " ".join(typed).strip()
    return "\n\n".join([*attached, *([text] if text else [])]), text


def note_path(uri: str, root: Path) -> str | None:
    """The path in the vault of an address `file:///…`; None if it is elsewhere."""
    try:
        address = urlsplit(uri)
        if address.scheme != "file":
            return None
        return Path(unquote(address.path)).resolve().relative_to(root).as_posix()
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle
        return None
