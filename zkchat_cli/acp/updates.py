"""Events, messages and results of commands as the protocol's values."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from acp import schema

from zkchat_cli import events, slash
from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.marks import read_marks
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.models.messages import ToolCall, ZkChatMessage, split_into_exchanges
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


def event_updates(event: events.Event, session: ZkChatSession) -> Iterator[Any]:
    """Updates for the editor about an event of a turn."""
    match event:
        case events.TextDelta(text):
            yield answer_chunk(text)
        case events.ReasoningDelta(text):
            yield thought_chunk(text)
        case events.ToolCallStarted(call):
            yield tool_started(call)
        case events.ToolCallFinished(call, run, _):
            status = "completed" if run.ok else "failed"
            yield tool_progress(call.id, run.outcome, status=status)
        case events.TextWithdrawn():
            yield thought_chunk("The text above was the model's reasoning; its answer follows.\n")
        case events.Notice(message, hint):
            yield thought_chunk(f"{on_one_line(message, hint)}\n")
        case events.TurnCompleted(report):
            yield from _end_updates(report, session)


def _end_updates(report: TurnReport, session: ZkChatSession) -> Iterator[Any]:
    """Updates at the end of a turn: the places of its tools' excerpts, its sources, and the
    conversation's title.
    """
    *_, exchange = split_into_exchanges(session.history)
    for message in exchange:
        found = locations(message, session.vault.root)
        if message.tool_call_id is not None and found:
            yield tool_progress(message.tool_call_id, locations=found)
    sources = sources_text(report)
    if sources:
        yield answer_chunk(sources)
    yield schema.SessionInfoUpdate(
        session_update="session_info_update", title=session.conversation.title
    )


def usage_updates(session: ZkChatSession) -> Iterator[Any]:
    """How many tokens the next prompt will have, of those that are sent at most.

    Nothing if the settings hide tokens, or if there is no such prompt.
    """
    if not session.runtime.settings.context.show_token_count:
        return
    with suppress(ZkchatError):
        usage = session.usage
        yield schema.UsageUpdate(
            session_update="usage_update", used=usage.total_tokens, size=usage.effective_limit
        )


def replay(history: Iterable[ZkChatMessage], root: Path) -> Iterator[Any]:
    """Updates for the editor with the messages of a conversation that it loads."""
    for message in history:
        match message.role:
            case "user":
                yield schema.UserMessageChunk(
                    session_update="user_message_chunk", content=text_block(message.display_text)
                )
            case "assistant":
                yield from _replay_answer(message)
            case "tool":
                yield tool_progress(
                    message.tool_call_id or "",
                    truncate(message.content, MAX_RESULT),
                    locations=locations(message, root),
                )


def _replay_answer(message: ZkChatMessage) -> Iterator[Any]:
    if message.reasoning:
        yield thought_chunk(message.reasoning)
    if message.content:
        yield answer_chunk(message.content)
    for call in message.tool_calls:
        yield tool_started(call).model_copy(update={"status": "completed"})


def result_text(result: CommandResult) -> str:
    """What a command shows, as a block of code; empty if it shows nothing.

    If it opens a note, the note's text.
    """
    opened = result.open_note.text if result.open_note is not None else ""
    shown = [text for text in (result.text, plain_text(result.lines), opened) if text]
    return code_block("\n".join(shown)) if shown else ""


def answer_chunk(text: str) -> Any:
    """A piece of the answer."""
    return schema.AgentMessageChunk(session_update="agent_message_chunk", content=text_block(text))


def thought_chunk(text: str) -> Any:
    """A piece of the model's reasoning, or a remark of zkchat."""
    return schema.AgentThoughtChunk(session_update="agent_thought_chunk", content=text_block(text))


def text_block(text: str) -> schema.TextContentBlock:
    """A text in the form of the protocol's content."""
    return schema.TextContentBlock(type="text", text=text)


def tool_started(call: ToolCall) -> Any:
    """A call that begins, with its arguments in the title."""
    title = call.name
    arguments = ", ".join(map(str, call.arguments.values()))
    if arguments:
        title = f"{title}: {arguments}"
    return schema.ToolCallStart(
        session_update="tool_call",
        tool_call_id=call.id,
        title=truncate(title, MAX_TITLE),
        kind=editor_kind(call.name),
        status="in_progress",
        raw_input=call.arguments,
    )


def editor_kind(tool_name: str) -> EditorKind:
    """The kind that an editor shows for a tool.

    A tool that changes notes becomes an edit when the user is asked.
    """
    tool = find_tool(tool_name)
    return tool.editor_kind if tool is not None else "other"


def tool_progress(call_id: str, text: str = "", **values: Any) -> Any:
    """An update of a call that has begun: its result, status or locations."""
    return schema.ToolCallProgress(
        session_update="tool_call_update",
        tool_call_id=call_id,
        content=tool_content(text) or None,
        **values,
    )


def tool_content(text: str) -> list[Any]:
    """A text as the content of a call; an empty list for an empty text."""
    if not text:
        return []
    return [schema.ContentToolCallContent(type="content", content=text_block(text))]


def change_content(change: Change, root: Path) -> list[Any]:
    """A proposed change of notes as diffs.

    Like the terminal, they make every character visible.
    """
    content = tool_content(change.note)
    for file in change.files:
        before = None
        if file.path is not None:
            before = _decoded(file.before)
        diff = schema.FileEditToolCallContent(
            type="diff",
            path=str(root / file.new_path),
            old_text=before,
            new_text=_decoded(file.after),
        )
        content.append(diff)
    return content


def _decoded(content: bytes) -> str:
    return reveal_invisible(content.decode("utf-8", "replace"))


def locations(message: ZkChatMessage, root: Path) -> list[schema.ToolCallLocation]:
    """The places of the excerpts in a tool's result: path and line."""
    return [
        schema.ToolCallLocation(path=str(root / chunk.relative_path), line=chunk.start_line)
        for chunk in message.chunks
    ]


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


def session_modes(session: ZkChatSession) -> schema.SessionModeState:
    """The agents that can answer, as modes of the session."""
    modes = [schema.SessionMode(id=NO_AGENT, name="No agent")]
    modes += [schema.SessionMode(id=name, name=name) for name in session.agent_names()]
    agent = session.runtime.agent
    return schema.SessionModeState(
        current_mode_id=agent.name if agent is not None else NO_AGENT, available_modes=modes
    )


def available_commands() -> Any:
    """The slash commands that make sense in an editor."""
    commands: list[schema.AvailableCommand] = []
    for command in slash.commands():
        if command.in_editors:
            hint = _command_input(command.argument)
            commands.append(
                schema.AvailableCommand(name=command.name, description=command.help, input=hint)
            )
    return schema.AvailableCommandsUpdate(
        session_update="available_commands_update", available_commands=commands
    )


def _command_input(argument: str) -> schema.AvailableCommandInput | None:
    hint = argument.strip("[]")
    if not hint:
        return None
    return schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint=hint))
