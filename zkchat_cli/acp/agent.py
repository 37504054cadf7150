"""The chat as an agent in an editor, with the same store, sessions and events as in the terminal.

Sessions are used on a thread of their own, one turn after another, while the main thread waits for
their answers and for the editor.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from acp import PROTOCOL_VERSION, Client, RequestError, schema

from zkchat_cli import __version__, events, slash
from zkchat_cli.acp.prompt_blocks import EditorMessage, read_prompt
from zkchat_cli.acp.updates import (
    answer_chunk,
    available_commands,
    change_content,
    event_updates,
    replay,
    result_text,
    session_modes,
    usage_updates,
)
from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.llm.stop_signal import STOP, raise_if_stopped, wait_for
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.slash.base import CommandResult
from zkchat_cli.text.sanitize import reveal_invisible, sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.edit.approval import ALLOWED, DECLINED, DECLINED_CALL, Decision
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.turn_steps import call_question

# Conversations that the editor lists
MAX_LISTED = 200
# Most characters of the names of servers
MAX_NAMES = 200
# Most characters of an error
LONGEST_ERROR = 1000
# Error codes of JSON-RPC
INVALID_PARAMS = -32602
FAILED = -32000
# The protocol's reasons for the end of a turn, and the reasons for other ends of an answer
END = "end_turn"
STOP_REASONS = {"length": "max_tokens", "content_filter": "refusal"}
R = TypeVar("R")
YES = schema.PermissionOption(option_id="yes", name="Allow", kind="allow_once")
ALWAYS = schema.PermissionOption(
    option_id="always", name="Always allow this tool", kind="allow_always"
)
NO = schema.PermissionOption(option_id="no", name="Decline", kind="reject_once")


class NoteAgent:
    """The agent's side of the protocol. `open_app` opens the vault of a session's folder.

    Its public methods are those of the protocol, called on the protocol's thread, and `close`.
    """

    def __init__(self, open_app: Callable[[Path], App]) -> None:
        self._open_app = open_app
        self._thread = ThreadPoolExecutor(1, "sessions")
        self._apps: dict[Path, App] = {}
        self._sessions: dict[str, ZkChatSession] = {}
        # By session: the event that stops the answer that it is writing, or that waits for other
        # work on the sessions' thread
        self._stops: dict[str, threading.Event] = {}
        self._client: Client
        self._loop: asyncio.AbstractEventLoop
        # The session that is answering, and its current call; the user is asked about these
        self._current: ZkChatSession
        self._call: ToolCall

    def on_connect(self, conn: Client) -> None:
        """Remember the connection to the editor."""
        self._client = conn
        self._loop = asyncio.get_running_loop()

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        """Agree on a version of the protocol, and tell what this agent can do."""
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

    async def new_session(
        self, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.NewSessionResponse:
        """Begin a conversation about the notes of a folder."""
        session = await self._run_work(lambda: self._open_session(Path(cwd), None))
        _report_servers(session, mcp_servers)
        figures = await self._run_work(lambda: list(usage_updates(session)))
        for update in (available_commands(), *figures):
            await self._client.session_update(session_id=session.conversation.id, update=update)
        return schema.NewSessionResponse(
            session_id=session.conversation.id, modes=session_modes(session)
        )

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.LoadSessionResponse:
        """Continue a conversation, and show its messages to the editor."""
        session = await self._run_work(lambda: self._open_session(Path(cwd), session_id))
        _report_servers(session, mcp_servers)
        figures = await self._run_work(lambda: list(usage_updates(session)))
        messages = replay(session.history, session.vault.root)
        for update in (*messages, available_commands(), *figures):
            await self._client.session_update(session_id=session_id, update=update)
        return schema.LoadSessionResponse(modes=session_modes(session))

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> schema.ListSessionsResponse:
        """The latest conversations about the notes of a folder."""

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
        """Let another agent answer from now on; the protocol calls it a mode."""
        session = self._session(session_id)
        await self._run_work(lambda: session.runtimes.use_agent(mode_id))
        for update in await self._run_work(lambda: list(usage_updates(session))):
            await self._client.session_update(session_id=session_id, update=update)
        return schema.SetSessionModeResponse()

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> schema.PromptResponse:
        """Answer a message or run a command; returns the reason why it ended."""
        session = self._session(session_id)
        if session_id in self._stops:
            raise RequestError(
                INVALID_PARAMS, "an answer is being written; wait for its end, or cancel it"
            )
        message = read_prompt(prompt, session.vault.root)
        stop = threading.Event()
        self._stops[session_id] = stop

        def run() -> str:
            STOP.set(stop)
            with suppress(KeyboardInterrupt):
                raise_if_stopped()
                return self._answer(session, message)
            return "cancelled"

        try:
            return schema.PromptResponse(stop_reason=await self._run_work(run))
        finally:
            # If the turn is not over, this task was cancelled because the editor is gone
            stop.set()
            del self._stops[session_id]

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the answer of a session; the text so far is kept."""
        if session_id in self._stops:
            self._stops[session_id].set()

    def close(self) -> None:
        """Stop every turn and store the answers so far, because the editor is gone."""
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
        deciding = replace(
            app,
            approve=self._approve_change,
            approve_call=self._approve_call,
            approve_cost=self._approve_cost,
        )
        session = deciding.session(None if id_ is None else app.find(id_))
        for warning in app.warnings(session):
            # The editor shows this with the first answer
            session.memory.notify(*warning)
        app.vault.embed_in_background(lambda: bool(self._stops), app.message_embedder())
        self._sessions[session.conversation.id if id_ is None else id_] = session
        return session

    def _send(self, update: Any) -> None:
        self._ask(
            self._client.session_update(session_id=self._current.conversation.id, update=update)
        )

    def _ask(self, question: Coroutine[Any, Any, R]) -> R:
        """The editor's answer.

        KeyboardInterrupt ends the wait; it is also raised if the editor is gone.
        """
        try:
            asked = asyncio.run_coroutine_threadsafe(question, self._loop)
        except RuntimeError:
            question.close()
            raise KeyboardInterrupt from None
        return wait_for(asked)

    def _answer(self, session: ZkChatSession, message: EditorMessage) -> str:
        """Run a command or a turn; returns the reason why it ended."""
        self._current = session
        if slash.is_command(message.typed):
            return self._run_command(session, message.typed)
        return self._run_turn(session, session.send(message.text, typed=message.typed))

    def _run_command(self, session: ZkChatSession, line: str) -> str:
        mode = session_modes(session).current_mode_id
        result = slash.run(line, session)
        if result.question is not None:
            wanted = schema.ToolCallUpdate(tool_call_id="confirm", title=result.question.text)
            if self._permission(wanted, YES, NO) == YES:
                result = result.question.run()
        if _is_for_a_terminal(result):
            self._send(answer_chunk("The editor has its own way to do that."))
            return END
        self._show_result(session, result)
        new_mode = session_modes(session).current_mode_id
        if new_mode != mode:
            update = schema.CurrentModeUpdate(
                session_update="current_mode_update", current_mode_id=new_mode
            )
            self._send(update)
        reason = END
        while result.turn is not None:
            reason = self._run_turn(session, result.turn)
            if result.then is None:
                break
            result = result.then()
            self._show_result(session, result)
        return reason

    def _show_result(self, session: ZkChatSession, result: CommandResult) -> None:
        shown = result_text(result)
        if shown:
            self._send(answer_chunk(shown))
        self._send_usage(session)

    def _run_turn(self, session: ZkChatSession, turn: Generator[events.Event, None, None]) -> str:
        """Run a turn and tell the editor about it; returns the reason why it ended.

        Raises the error of a turn that failed.
        """
        reason = END
        with closing(turn):
            for event in turn:
                raise_if_stopped()
                if isinstance(event, events.TurnFailed):
                    raise event.error
                if isinstance(event, events.ToolCallStarted):
                    self._call = event.call
                if isinstance(event, events.TurnCompleted):
                    reason = STOP_REASONS.get(event.report.finish_reason, END)
                for update in event_updates(event, session):
                    self._send(update)
        self._send_usage(session)
        return reason

    def _send_usage(self, session: ZkChatSession) -> None:
        for update in usage_updates(session):
            self._send(update)

    def _approve_change(self, change: Change) -> Decision:
        """Ask about a proposed change, and show its diffs."""
        content = change_content(change, self._current.vault.root)
        files = [schema.ToolCallLocation(path=each.path) for each in content if each.type == "diff"]
        wanted = schema.ToolCallUpdate(
            tool_call_id=self._call.id,
            title=reveal_invisible(change.summary),
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
        if answer == NO:
            return DECLINED_CALL
        return Decision(allowed=True, always=answer == ALWAYS)

    def _approve_cost(self, question: str) -> bool:
        wanted = schema.ToolCallUpdate(tool_call_id="cost", title=question, kind="other")
        return self._permission(wanted, YES, NO) == YES

    def _permission(
        self, wanted: schema.ToolCallUpdate, *options: schema.PermissionOption
    ) -> schema.PermissionOption:
        conversation_id = self._current.conversation.id
        outcome = self._ask(
            self._client.request_permission(conversation_id, tool_call=wanted, options=[*options])
        ).outcome
        if isinstance(outcome, schema.AllowedOutcome):
            for option in options:
                if option.option_id == outcome.option_id:
                    return option
        return NO


def _report_servers(session: ZkChatSession, servers: Sequence[Any] | None) -> None:
    """Say with the first answer that the tools of these MCP servers are not offered: only the
    user's own settings add servers.
    """
    if servers:
        names = truncate(sanitize_name(", ".join(str(each.name) for each in servers)), MAX_NAMES)
        session.memory.notify(
            f"MCP servers that an editor hands over are not supported: {names}",
            "To use them here, add them to your settings as tables [mcp.servers.NAME].",
        )


def _is_for_a_terminal(result: CommandResult) -> bool:
    """Whether a command switches the conversation, quits, edits or copies: an editor has its own
    ways to do that.
    """
    return (
        result.session is not None
        or result.quit
        or bool(result.input_text)
        or result.clipboard is not None
    )


def _error_text(text: str) -> str:
    """An error on one line of limited length, because names in it may be any text."""
    return sanitize_name(truncate(text.strip(), LONGEST_ERROR))
