"""`zkchat acp`: conversations in an editor, with the same store, sessions and events as in the terminal.

Sessions are used on a thread of their own, one turn after another, while the main thread waits for their answers and for the editor.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from acp import PROTOCOL_VERSION, RequestError, run_agent, schema
from acp.interfaces import Client
from acp.stdio import stdio_streams

from zkchat_cli import __version__, events, slash
from zkchat_cli.acp import updates
from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.llm.stop_signal import STOP, raise_if_stopped, wait_for
from zkchat_cli.models import ToolCall, split_into_exchanges
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.edit.transaction import ALLOWED, DECLINED, DECLINED_CALL, Change, Decision
from zkchat_cli.views.text import plain_text
from zkchat_cli.views.turn_steps import call_question

MAX_LISTED = 200
LONGEST_ERROR = 1000
MAX_LINE = 50_000_000  # bytes of a message
PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, FAILED = -32700, -32600, -32602, -32000  # codes of JSON-RPC
R = TypeVar("R")
YES, ALWAYS, NO = "yes", "always", "no"
_OPTIONS = {
    YES: schema.PermissionOption(option_id=YES, name="Allow", kind="allow_once"),
    ALWAYS: schema.PermissionOption(option_id=ALWAYS, name="Always allow this tool", kind="allow_always"),
    NO: schema.PermissionOption(option_id=NO, name="Decline", kind="reject_once"),
}


def serve(open_app: Callable[[Path], App]) -> None:
    """Serve one editor on standard input and output, until it closes them. `open_app` opens the vault of a session's folder."""
    with closing(NoteAgent(open_app)) as agent:
        asyncio.run(_serve_standard_streams(agent))


async def _serve_standard_streams(agent: Any) -> None:
    """Give the SDK the lines that are messages, and answer others with an error: the SDK ends at JSON that is not an object."""
    lines, writer = await stdio_streams(limit=MAX_LINE)
    messages = asyncio.StreamReader(limit=MAX_LINE)

    async def check_lines() -> None:
        try:
            while line := await lines.readline():
                try:
                    code = None if not line.strip() or isinstance(json.loads(line), dict) else INVALID_REQUEST
                except (RecursionError, ValueError):
                    code = PARSE_ERROR
                if code is None:
                    messages.feed_data(line)
                    continue
                error = {"code": code, "message": "a message is one JSON object on one line"}
                writer.write(json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode() + b"\n")
        finally:
            messages.feed_eof()

    checking = asyncio.create_task(check_lines())
    try:
        await run_agent(agent, writer, messages)
    finally:
        checking.cancel()


class NoteAgent:
    """The agent's side of the protocol: its methods are called on the protocol's thread."""

    def __init__(self, open_app: Callable[[Path], App]) -> None:
        self._open_app, self._thread = open_app, ThreadPoolExecutor(1, "sessions")
        self._apps: dict[Path, App] = {}
        self._sessions: dict[str, ZkChatSession] = {}
        self._interrupts: dict[str, Callable[[], None]] = {}
        """By session, what ends the answer that it writes or that waits for other work on the sessions' thread."""
        self._client: Client
        self._loop: asyncio.AbstractEventLoop
        self._current: ZkChatSession  # the session that answers, and the call that it makes: what the user is asked about
        self._call: ToolCall

    def on_connect(self, conn: Client) -> None:
        self._client, self._loop = conn, asyncio.get_running_loop()

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(embedded_context=True),
                session_capabilities=schema.SessionCapabilities(list=schema.SessionListCapabilities()),
            ),
            agent_info=schema.Implementation(name="zkchat", title="zkchat", version=__version__),
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        session = await self._run_work(lambda: self._open_session(Path(cwd), None))
        id_ = session.conversation.id
        await self._client.session_update(session_id=id_, update=updates.available_commands())
        return schema.NewSessionResponse(session_id=id_, modes=updates.session_modes(session))

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        session = await self._run_work(lambda: self._open_session(Path(cwd), session_id))
        for update in updates.replay(session.history, session.vault.root):
            await self._client.session_update(session_id=session_id, update=update)
        await self._client.session_update(session_id=session_id, update=updates.available_commands())
        return schema.LoadSessionResponse(modes=updates.session_modes(session))

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> schema.ListSessionsResponse:
        def listed() -> list[schema.SessionInfo]:
            app = self._app(Path(cwd) if cwd else Path.cwd())
            root = str(app.vault.root)
            found = app.store.conversations(root, MAX_LISTED)
            return [schema.SessionInfo(session_id=each.id, cwd=root, title=each.title, updated_at=each.updated_at) for each in found]

        return schema.ListSessionsResponse(sessions=await self._run_work(listed))

    async def set_session_mode(self, mode_id: str, session_id: str, **_: Any) -> schema.SetSessionModeResponse:
        session = self._session(session_id)
        await self._run_work(lambda: session.use_agent(mode_id))
        return schema.SetSessionModeResponse()

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> schema.PromptResponse:
        session = self._session(session_id)
        if session_id in self._interrupts:
            raise RequestError(INVALID_PARAMS, "an answer is being written; wait for its end, or cancel it")
        text, typed = updates.read_prompt(prompt, session.vault.root)
        stop = threading.Event()

        def run() -> str:
            STOP.set(stop)
            try:
                return self._answer(session, text, typed)
            except KeyboardInterrupt:
                return "cancelled"

        answer = self._thread.submit(run)

        def interrupt() -> None:
            if not answer.cancel():
                stop.set()

        self._interrupts[session_id] = interrupt
        try:
            return schema.PromptResponse(stop_reason=await self._wait(answer))
        finally:
            interrupt()  # if it is not over, the editor is gone, and with it this task
            self._interrupts.pop(session_id, None)

    async def cancel(self, session_id: str, **_: Any) -> None:
        if (interrupt := self._interrupts.get(session_id)) is not None:
            interrupt()

    def close(self) -> None:
        """Stop every turn, and store what came of the answers: the editor is gone."""
        for interrupt in list(self._interrupts.values()):
            interrupt()

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
        result: R = await self._wait(self._thread.submit(work))
        return result

    async def _wait(self, future: Future[Any]) -> Any:
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise  # the editor is gone
            return "cancelled"
        except ZkchatError as e:
            raise RequestError(FAILED, _error_text(on_one_line(e.message, e.hint)), {"code": e.code}) from e

    def _session(self, session_id: str) -> ZkChatSession:
        if session_id not in self._sessions:
            raise RequestError(INVALID_PARAMS, _error_text(f"there is no open session {session_id}; load it first"))
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
            session.memory.notify(*warning)  # the editor shows it with the first answer
        app.vault.embed_in_background(lambda: bool(self._interrupts), app.message_embedder())
        self._sessions[session.conversation.id if id_ is None else id_] = session
        return session

    def _send(self, session: ZkChatSession, update: updates.Update) -> None:
        self._ask(self._client.session_update(session_id=session.conversation.id, update=update))

    def _ask(self, question: Coroutine[Any, Any, R]) -> R:
        """What the editor answers; KeyboardInterrupt ends the wait, and is raised if the editor is gone."""
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
        mode, result = updates.session_modes(session).current_mode_id, slash.run(typed, session)
        if result.question is not None:
            wanted = schema.ToolCallUpdate(tool_call_id="confirm", title=result.question.text)
            result = result.question.run() if self._permission(wanted, YES, NO) == YES else result
        if result.session is not None or result.quit or result.input_text or result.clipboard is not None:
            self._send(session, updates.answer_chunk("The editor has its own way to do that."))
            return "end_turn"
        opened = result.open_note.text if result.open_note is not None else ""
        if shown := "\n".join(filter(None, (result.text, plain_text(result.lines), opened))):
            self._send(session, updates.answer_chunk(updates.code_block(shown)))
        if (new := updates.session_modes(session).current_mode_id) != mode:
            self._send(session, schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=new))
        return self._run_turn(session, result.turn) if result.turn is not None else "end_turn"

    def _run_turn(self, session: ZkChatSession, turn: Any) -> str:
        reason = "end_turn"
        with closing(turn):
            for event in turn:
                raise_if_stopped()
                match event:
                    case events.TextDelta(text):
                        self._send(session, updates.answer_chunk(text))
                    case events.ReasoningDelta(text):
                        self._send(session, updates.thought_chunk(text))
                    case events.ToolCallStarted(call):
                        self._call = call
                        self._send(session, updates.tool_started(call))
                    case events.ToolCallFinished(call, run, _):
                        self._send(session, updates.tool_finished(call, run))
                    case events.Notice(message, hint):
                        self._send(session, updates.thought_chunk(f"{on_one_line(message, hint)}\n"))
                    case events.TurnCompleted(report):
                        reason = {"length": "max_tokens", "content_filter": "refusal"}.get(report.finish_reason, reason)
                        for stored in [*split_into_exchanges(session.history)][-1]:
                            if (update := updates.tool_locations(stored, session.vault.root)) is not None:
                                self._send(session, update)
                        if sources := updates.sources_text(report):
                            self._send(session, updates.answer_chunk(sources))
                        title = session.conversation.title
                        self._send(session, schema.SessionInfoUpdate(session_update="session_info_update", title=title))
                    case events.TurnFailed(error, _, _):
                        raise error
        return reason

    def _approve_change(self, change: Change) -> Decision:
        wanted = updates.permission_for_change(self._call.id, change, self._current.vault.root)
        return ALLOWED if self._permission(wanted, YES, NO) == YES else DECLINED

    def _approve_call(self, call: ToolCall) -> Decision:
        wanted = schema.ToolCallUpdate(tool_call_id=call.id, title=call_question(call), kind="other", raw_input=call.arguments)
        answer = self._permission(wanted, YES, ALWAYS, NO)
        return Decision(True, always=answer == ALWAYS) if answer != NO else DECLINED_CALL

    def _permission(self, wanted: schema.ToolCallUpdate, *options: str) -> str:
        request = self._client.request_permission(
            session_id=self._current.conversation.id, tool_call=wanted, options=[_OPTIONS[name] for name in options]
        )
        outcome = self._ask(request).outcome
        return outcome.option_id if isinstance(outcome, schema.AllowedOutcome) and outcome.option_id in options else NO


def _error_text(text: str) -> str:
    """An error on one line of limited length: names in it may be any text."""
    return sanitize_name(truncate(text.strip(), LONGEST_ERROR))
