"""`zkchat acp`: conversations in an editor, with the same store, sessions and events as in the
terminal.

Sessions are used on a thread of their own, one turn after another, while the main thread waits for
their answers and for the editor.
"""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from acp import PROTOCOL_VERSION, Client, RequestError, run_agent, schema, stdio_streams

from zkchat_cli import __version__, events, slash
from zkchat_cli.agents.loader import NO_AGENT
from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.marks import read_marks
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.llm.stop_signal import STOP, raise_if_stopped, wait_for
from zkchat_cli.models.messages import ToolCall, ZkChatMessage, split_into_exchanges
from zkchat_cli.models.reports import TurnReport
from zkchat_cli.text.sanitize import reveal_invisible, sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools import find_tool
from zkchat_cli.tools.base import EditorKind
from zkchat_cli.vault.edit.transaction import ALLOWED, DECLINED, DECLINED_CALL, Change, Decision
from zkchat_cli.views.sources import no_source_line, source_lines
from zkchat_cli.views.text import IN_CHAT, plain_text
from zkchat_cli.views.turn_steps import call_question

MAX_LISTED = 200
MAX_SOURCES = 10  # conversations, and sources below an answer
LONGEST_ERROR = 1000
MAX_LINE = 50_000_000  # bytes of a message
PARSE_ERROR = -32700
INVALID_PARAMS = -32602
FAILED = -32000  # codes of JSON-RPC
# Characters of a tool's result that the editor shows
MAX_RESULT = 2_000
R = TypeVar("R")
YES = schema.PermissionOption(option_id="yes", name="Allow", kind="allow_once")
ALWAYS = schema.PermissionOption(
    option_id="always", name="Always allow this tool", kind="allow_always"
)
NO = schema.PermissionOption(option_id="no", name="Decline", kind="reject_once")


def serve(open_app: Callable[[Path], App]) -> None:
    """Serve one editor on standard input and output, until it closes them. `open_app` opens the
    vault of a session's folder.
    """
    with closing(NoteAgent(open_app)) as agent:
        asyncio.run(_serve_standard_streams(agent))


async def _serve_standard_streams(agent: Any) -> None:
    """Give the SDK the lines that are messages, and answer others with an error: the SDK ends at
    JSON that is not an object.
    """
    lines, writer = await stdio_streams(limit=MAX_LINE)
    messages = asyncio.StreamReader(limit=MAX_LINE)
    error = {"code": PARSE_ERROR, "message": "a message is one JSON object on one line"}

    async def check_lines() -> None:
        async for line in lines:
            with suppress(RecursionError, ValueError):
                if isinstance(json.loads(line), dict):
                    messages.feed_data(line)
                    continue
            writer.write(
                json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode() + b"\n"
            )
        messages.feed_eof()

    checking = asyncio.create_task(check_lines())
    try:
        await run_agent(agent, writer, messages)
    finally:
        checking.cancel()


class NoteAgent:
    """The agent's side of the protocol: its methods are called on the protocol's thread."""

    def __init__(self, open_app: Callable[[Path], App]) -> None:
        self._open_app = open_app
        self._thread = ThreadPoolExecutor(1, "sessions")
        self._apps: dict[Path, App] = {}
        self._sessions: dict[str, ZkChatSession] = {}
        self._stops: dict[str, threading.Event] = {}
        """By session, what ends the answer that it writes or that waits for other work on the
        sessions' thread.
        """
        self._client: Client
        self._loop: asyncio.AbstractEventLoop
        # The session that answers, and the call that it makes: what the user is asked about
        self._current: ZkChatSession
        self._call: ToolCall

    def on_connect(self, conn: Client) -> None:
        self._client = conn
        self._loop = asyncio.get_running_loop()

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(embedded_context=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities()
                ),
            ),
            agent_info=schema.Implementation(name="zkchat", title="zkchat", version=__version__),
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        session = await self._run_work(lambda: self._open_session(Path(cwd), None))
        await self._client.session_update(
            session_id=session.conversation.id, update=available_commands()
        )
        return schema.NewSessionResponse(
            session_id=session.conversation.id, modes=session_modes(session)
        )

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        session = await self._run_work(lambda: self._open_session(Path(cwd), session_id))
        for update in (*replay(session.history, session.vault.root), available_commands()):
            await self._client.session_update(session_id=session_id, update=update)
        return schema.LoadSessionResponse(modes=session_modes(session))

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> schema.ListSessionsResponse:
        def listed() -> list[schema.SessionInfo]:
            app = self._app(Path(cwd) if cwd else Path.cwd())
            found = app.store.conversations(str(app.vault.root), MAX_LISTED)
            return [
                schema.SessionInfo(
                    session_id=each.id, cwd=each.vault, title=each.title, updated_at=each.updated_at
                )
                for each in found
            ]

        return schema.ListSessionsResponse(sessions=await self._run_work(listed))

    async def set_session_mode(
        self, mode_id: str, session_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        session = self._session(session_id)
        await self._run_work(lambda: session.use_agent(mode_id))
        return schema.SetSessionModeResponse()

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> schema.PromptResponse:
        session = self._session(session_id)
        if session_id in self._stops:
            raise RequestError(
                INVALID_PARAMS, "an answer is being written; wait for its end, or cancel it"
            )
        text, typed = read_prompt(prompt, session.vault.root)
        stop = self._stops[session_id] = threading.Event()

        def run() -> str:
            STOP.set(stop)
            with suppress(KeyboardInterrupt):
                raise_if_stopped()
                return self._answer(session, text, typed)
            return "cancelled"

        try:
            return schema.PromptResponse(stop_reason=await self._run_work(run))
        finally:
            # If it is not over, the editor is gone, and with it this task
            stop.set()
            del self._stops[session_id]

    async def cancel(self, session_id: str, **_: Any) -> None:
        if session_id in self._stops:
            self._stops[session_id].set()

    def close(self) -> None:
        """Stop every turn, and store what came of the answers: the editor is gone."""
        for stop in list(self._stops.values()):
            stop.set()

        def close_all() -> None:
            for session in self._sessions.values():
                with suppress(ZkchatError):
                    session.flush()
            for app in self._apps.values():
                app.close()

        self._thread.submit(close_all)
        self._thread.shutdown()

    # On the protocol's thread

    async def _run_work(self, work: Callable[[], R]) -> R:
        try:
            return await asyncio.wrap_future(self._thread.submit(work))
        except ZkchatError as e:
            raise RequestError(
                FAILED, _error_text(on_one_line(e.message, e.hint)), {"code": e.code}
            ) from e

    def _session(self, session_id: str) -> ZkChatSession:
        if session_id not in self._sessions:
            raise RequestError(
                INVALID_PARAMS, _error_text(f"there is no open session {session_id}; load it first")
            )
        return self._sessions[session_id]

    # On the sessions' thread

    def _app(self, folder: Path) -> App:
        if folder not in self._apps:
            self._apps[folder] = self._open_app(folder)
        return self._apps[folder]

    def _open_session(self, folder: Path, id_: str | None) -> ZkChatSession:
        app = self._app(folder)
        deciding = replace(app, approve=self._approve_change, approve_call=self._approve_call)
        session = deciding.session(None if id_ is None else app.find(id_))
        for warning in app.warnings(session):
            # The editor shows it with the first answer
            session.memory.notify(*warning)
        app.vault.embed_in_background(lambda: bool(self._stops), app.message_embedder())
        self._sessions[session.conversation.id if id_ is None else id_] = session
        return session

    def _send(self, update: Any) -> None:
        self._ask(
            self._client.session_update(session_id=self._current.conversation.id, update=update)
        )

    def _ask(self, question: Coroutine[Any, Any, R]) -> R:
        """What the editor answers; KeyboardInterrupt ends the wait, and is raised if the editor is
        gone.
        """
        try:
            asked = asyncio.run_coroutine_threadsafe(question, self._loop)
        except RuntimeError:
            question.close()
            raise KeyboardInterrupt from None
        return wait_for(asked)

    def _answer(self, session: ZkChatSession, text: str, typed: str) -> str:
        """Run a command or a turn; returns the reason why it ended."""
        self._current = session
        if not slash.is_command(typed):
            return self._run_turn(session, session.send(text, typed=typed))
        mode = session_modes(session).current_mode_id
        result = slash.run(typed, session)
        if result.question is not None:
            wanted = schema.ToolCallUpdate(tool_call_id="confirm", title=result.question.text)
            result = result.question.run() if self._permission(wanted, YES, NO) == YES else result
        if (
            result.session is not None
            or result.quit
            or result.input_text
            or result.clipboard is not None
        ):
            self._send(answer_chunk("The editor has its own way to do that."))
            return "end_turn"
        opened = result.open_note.text if result.open_note is not None else ""
        if shown := "\n".join(filter(None, (result.text, plain_text(result.lines), opened))):
            self._send(answer_chunk(code_block(shown)))
        if (new := session_modes(session).current_mode_id) != mode:
            self._send(
                schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=new)
            )
        return self._run_turn(session, result.turn) if result.turn is not None else "end_turn"

    def _run_turn(self, session: ZkChatSession, turn: Any) -> str:
        reason = "end_turn"
        with closing(turn):
            for event in turn:
                raise_if_stopped()
                match event:
                    case events.TextDelta(text):
                        self._send(answer_chunk(text))
                    case events.ReasoningDelta(text):
                        self._send(thought_chunk(text))
                    case events.ToolCallStarted(call):
                        self._call = call
                        self._send(tool_started(call))
                    case events.ToolCallFinished(call, run, _):
                        self._send(
                            tool_progress(
                                call.id, run.outcome, status="completed" if run.ok else "failed"
                            )
                        )
                    case events.Notice(message, hint):
                        self._send(thought_chunk(f"{on_one_line(message, hint)}\n"))
                    case events.TurnCompleted(report):
                        reason = {"length": "max_tokens", "content_filter": "refusal"}.get(
                            report.finish_reason, reason
                        )
                        for stored in [*split_into_exchanges(session.history)][-1]:
                            if stored.tool_call_id is not None and (
                                found := locations(stored, session.vault.root)
                            ):
                                self._send(tool_progress(stored.tool_call_id, locations=found))
                        if sources := sources_text(report):
                            self._send(answer_chunk(sources))
                        self._send(
                            schema.SessionInfoUpdate(
                                session_update="session_info_update",
                                title=session.conversation.title,
                            )
                        )
                    case events.TurnFailed(error, _, _):
                        raise error
        return reason

    def _approve_change(self, change: Change) -> Decision:
        """Ask about a proposed change with its diffs. As in the terminal, they hide no
        character.
        """
        content: list[Any] = _tool_content(change.note)
        for file in change.files:
            before = (
                None
                if file.path is None
                else reveal_invisible(file.before.decode("utf-8", "replace"))
            )
            path = str(self._current.vault.root / file.new_path)
            after = reveal_invisible(file.after.decode("utf-8", "replace"))
            content.append(
                schema.FileEditToolCallContent(
                    type="diff", path=path, old_text=before, new_text=after
                )
            )
        files = [schema.ToolCallLocation(path=each.path) for each in content if each.type == "diff"]
        wanted = schema.ToolCallUpdate(
            tool_call_id=self._call.id,
            title=change.summary,
            kind="edit",
            content=content,
            locations=files,
        )
        return ALLOWED if self._permission(wanted, YES, NO) == YES else DECLINED

    def _approve_call(self, call: ToolCall) -> Decision:
        wanted = schema.ToolCallUpdate(
            tool_call_id=call.id, title=call_question(call), kind="other", raw_input=call.arguments
        )
        answer = self._permission(wanted, YES, ALWAYS, NO)
        return Decision(True, always=answer == ALWAYS) if answer != NO else DECLINED_CALL

    def _permission(
        self, wanted: schema.ToolCallUpdate, *options: schema.PermissionOption
    ) -> schema.PermissionOption:
        conversation_id = self._current.conversation.id
        outcome = self._ask(
            self._client.request_permission(conversation_id, tool_call=wanted, options=[*options])
        ).outcome
        chosen = outcome.option_id if isinstance(outcome, schema.AllowedOutcome) else None
        return next((option for option in options if option.option_id == chosen), NO)


def _error_text(text: str) -> str:
    """An error on one line of limited length: names in it may be any text."""
    return sanitize_name(truncate(text.strip(), LONGEST_ERROR))


def text_block(text: str) -> schema.TextContentBlock:
    return schema.TextContentBlock(type="text", text=text)


def _tool_content(text: str) -> list[Any]:
    return [schema.ContentToolCallContent(type="content", content=text_block(text))] if text else []


def answer_chunk(text: str) -> Any:
    return schema.AgentMessageChunk(session_update="agent_message_chunk", content=text_block(text))


def thought_chunk(text: str) -> Any:
    return schema.AgentThoughtChunk(session_update="agent_thought_chunk", content=text_block(text))


def tool_started(call: ToolCall) -> Any:
    return schema.ToolCallStart(
        session_update="tool_call",
        tool_call_id=call.id,
        title=truncate(
            ": ".join(filter(None, (call.name, ", ".join(map(str, call.arguments.values()))))), 100
        ),
        kind=editor_kind(call.name),
        status="in_progress",
        raw_input=call.arguments,
    )


def editor_kind(tool_name: str) -> EditorKind:
    """The kind that an editor shows for a tool. One that changes notes becomes an edit when the
    user is asked.
    """
    tool = find_tool(tool_name)
    return tool.editor_kind if tool is not None else "other"


def tool_progress(call_id: str, text: str = "", **values: Any) -> Any:
    content = _tool_content(text) or None
    return schema.ToolCallProgress(
        session_update="tool_call_update", tool_call_id=call_id, content=content, **values
    )


def locations(message: ZkChatMessage, root: Path) -> list[schema.ToolCallLocation]:
    """Where the excerpts of a tool's result are: path and line."""
    return [
        schema.ToolCallLocation(path=str(root / chunk.relative_path), line=chunk.start_line)
        for chunk in message.chunks
    ]


def replay(history: Iterable[ZkChatMessage], root: Path) -> Iterator[Any]:
    for message in history:
        if message.role == "user":
            yield schema.UserMessageChunk(
                session_update="user_message_chunk", content=text_block(message.display_text)
            )
        elif message.role == "assistant":
            if message.reasoning:
                yield thought_chunk(message.reasoning)
            if message.content:
                yield answer_chunk(message.content)
            for call in message.tool_calls:
                yield tool_started(call).model_copy(update={"status": "completed"})
        elif message.role == "tool":
            yield tool_progress(
                message.tool_call_id or "",
                truncate(message.content, MAX_RESULT),
                locations=locations(message, root),
            )


def sources_text(report: TurnReport) -> str:
    """The sources below an answer, as the terminal lists them; empty if there are none. They end a
    code block that was cut off.
    """
    named = [each for each in report.references if each.reference_type in ("direct", "import")]
    lines = source_lines(
        report.citations, named, report.uncited_statements, MAX_SOURCES, IN_CHAT.all_sources
    )
    if lines:
        return f"\n{read_marks(report.answer).closing}\n\n{code_block(plain_text(lines))}"
    return f"\n\n{no_source_line(report.retrieval)}." if report.lacks_source else ""


def code_block(text: str) -> str:
    """Text as the terminal shows it. The fences are longer than any in the text, such as those of a
    message in `/show last`.
    """
    fence = "`" * max([3, *(1 + len(marks) for marks in re.findall("`+", text))])
    return f"{fence}\n{text}\n{fence}"


def session_modes(session: ZkChatSession) -> schema.SessionModeState:
    agents = [schema.SessionMode(id=name, name=name) for name in session.agent_names()]
    agent = session.runtime.agent
    current = agent.name if agent is not None else NO_AGENT
    return schema.SessionModeState(
        current_mode_id=current,
        available_modes=[schema.SessionMode(id=NO_AGENT, name="No agent"), *agents],
    )


def available_commands() -> Any:
    commands = []
    for command in slash.commands():
        if command.in_editors:
            hint = command.argument.strip("[]")
            given = (
                schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint=hint))
                if hint
                else None
            )
            commands.append(
                schema.AvailableCommand(name=command.name, description=command.help, input=given)
            )
    return schema.AvailableCommandsUpdate(
        session_update="available_commands_update", available_commands=commands
    )


def read_prompt(blocks: Sequence[Any], root: Path) -> tuple[str, str]:
    """The message of an editor's prompt, and the part of it that the user typed: text of the editor
    must not import files.

    A note that is attached by its address becomes a link to it; attached text comes before what was
    typed.
    """
    typed = []
    attached = []
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
            attached.append(
                f"From {note_path(block.resource.uri, root) or block.resource.uri}:\n"
                f"{block.resource.text}"
            )
    text = " ".join(typed).strip()
    return "\n\n".join(filter(None, (*attached, text))), text


def note_path(uri: str, root: Path) -> str | None:
    """The path in the vault of an address `file:///…`; None if it is elsewhere."""
    with suppress(OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle
        address = urlsplit(uri)
        if address.scheme == "file":
            return Path(unquote(address.path)).resolve().relative_to(root).as_posix()
    return None
