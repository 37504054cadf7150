"""The chat as an agent in an editor, with the same store, sessions and events as in the terminal.

One thread reads what the editor says (`handle`). Sessions are used on a thread of their own, one
request after another; there they also wait for the user's answers.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from zkchat_cli import __version__
from zkchat_cli.acp import connection
from zkchat_cli.acp.connection import (
    Connection,
    EditorLeft,
    EditorRequest,
    Json,
    Params,
    RequestRefused,
)
from zkchat_cli.acp.prompt_blocks import read_prompt
from zkchat_cli.acp.prompt_runner import PromptRunner
from zkchat_cli.acp.session_options import (
    OPTION_CHANGES,
    available_commands,
    config_options,
    config_update,
    current_agent,
    mode_update,
    session_modes,
)
from zkchat_cli.acp.session_pool import OpenSession, SessionPool
from zkchat_cli.acp.updates import Features, replay
from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ConfigError, ProviderError, UsageError, ZkchatError, on_one_line
from zkchat_cli.llm import providers
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate

# The protocol's version
VERSION = 1
# Most characters of the names of servers
MAX_NAMES = 200
# Most characters of an error
LONGEST_ERROR = 1000
# How to log in without a terminal: there is nothing to do if the model in the settings needs no key
SETTINGS_LOGIN = {
    "id": "settings",
    "name": "Use zkchat's settings",
    "description": (
        "The default model runs on this machine and needs no login. For another one, store its key "
        "with `zkchat keys set PROVIDER`."
    ),
}

_log = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """The answer to a request, and what to do after it has been sent."""

    result: Json
    then: Callable[[], None] | None = None


class RunningPrompt(NamedTuple):
    """A prompt that is being answered, or that waits until it is: the event that stops it."""

    request_id: Any
    stop: threading.Event


def serve(open_app: Callable[[Path], App], lines: BinaryIO, output: BinaryIO) -> None:
    """Serve one editor until it closes these streams.

    `open_app` opens the vault of a session's folder.
    """
    editor = Connection(lines, output)
    with closing(NoteAgent(open_app, editor)) as agent, suppress(EditorLeft):
        editor.read(agent.handle)


class NoteAgent:
    """The agent's side of the protocol. `open_app` opens the vault of a session's folder."""

    def __init__(self, open_app: Callable[[Path], App], editor: Connection) -> None:
        self._editor = editor
        self._thread = ThreadPoolExecutor(1, "sessions")
        self._runner = PromptRunner(editor)
        self._pool = SessionPool(open_app, self._runner.with_questions)
        self._prompts: dict[str, RunningPrompt] = {}

    # On the thread that reads

    def handle(self, request: EditorRequest) -> None:
        """Begin to carry out what the editor wants; returns at once."""
        try:
            if self._cancels(request):
                return
            work = _METHODS.get(request.method)
            if work is None:
                problem = f"there is no method {request.method}"
                raise RequestRefused(connection.UNKNOWN_METHOD, problem)
            if request.method == "session/prompt":
                self._queue_prompt(request)
            self._thread.submit(self._run, request, work)
        except RequestRefused as e:
            self._refuse(request, e)

    def _cancels(self, request: EditorRequest) -> bool:
        """Stop the answer that the request is about, if it is to be stopped. Whether that is all to
        be done.
        """
        if request.method == "$/cancel_request":
            for prompt in list(self._prompts.values()):
                if request.params.is_value("requestId", prompt.request_id):
                    prompt.stop.set()
            return True
        if request.method in ("session/cancel", "session/close", "session/delete"):
            prompt_of_session = self._prompts.get(request.params.text("sessionId"))
            if prompt_of_session is not None:
                prompt_of_session.stop.set()
        return request.method == "session/cancel"

    def _queue_prompt(self, request: EditorRequest) -> None:
        id_ = request.params.text("sessionId")
        if id_ in self._prompts:
            problem = "an answer is being written; wait for its end, or cancel it"
            raise RequestRefused(connection.INVALID_PARAMS, problem)
        self._prompts[id_] = RunningPrompt(request.id, threading.Event())

    def _refuse(self, request: EditorRequest, refusal: RequestRefused) -> None:
        """Tell the editor the error, on one line of limited length: names in it may be any text.
        A notification gets no answer.
        """
        if request.is_notification:
            return
        message = sanitize_name(truncate(refusal.message.strip(), LONGEST_ERROR))
        self._editor.refuse(request.id, RequestRefused(refusal.code, message, refusal.data))

    def close(self) -> None:
        """Stop every turn and store the answers so far, because the editor is gone."""
        for prompt in list(self._prompts.values()):
            prompt.stop.set()
        self._thread.submit(self._pool.close_all)
        self._thread.shutdown()

    # On the sessions' thread

    def _run(self, request: EditorRequest, work: "Work") -> None:
        """Carry out a request and answer it."""
        try:
            outcome = work(self, request.params)
        except RequestRefused as e:
            self._refuse(request, e)
        except ZkchatError as e:
            self._refuse(request, _refusal(e))
        except Exception as e:  # noqa: BLE001
            _log.exception("%s failed", request.method)
            problem = f"{request.method} failed unexpectedly: {e}"
            self._refuse(request, RequestRefused(connection.FAILED, problem))
        else:
            if not request.is_notification:
                self._editor.answer(request.id, outcome.result)
            if outcome.then is not None:
                outcome.then()

    def _initialize(self, params: Params) -> Outcome:
        """Tell the version of the protocol, whichever the editor prefers, and what this agent can
        do.
        """
        client = params.part("clientCapabilities")
        self._runner.features = Features(
            compactions=client.part("session").has("compaction"),
            notices=client.part("session").has("notices"),
            terminal_login=client.part("auth").has("terminal"),
        )
        logins = [SETTINGS_LOGIN]
        if self._runner.features.terminal_login:
            logins += _terminal_logins()
        capabilities = {
            "loadSession": True,
            "promptCapabilities": {"embeddedContext": True},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
        }
        return Outcome(
            {
                "protocolVersion": VERSION,
                "agentCapabilities": capabilities,
                "agentInfo": {"name": "zkchat", "title": "zkchat", "version": __version__},
                "authMethods": logins,
            }
        )

    def _authenticate(self, params: Params) -> Outcome:
        """Look whether the model in the settings can be used, as far as its key shows it."""
        method = params.text("methodId")
        if method != SETTINGS_LOGIN["id"]:
            raise RequestRefused(connection.INVALID_PARAMS, f"there is no login {method}")
        problem = self._pool.app().opened_model.model.check()
        if problem is not None:
            message = on_one_line(problem.message, problem.hint)
            raise RequestRefused(connection.NOT_LOGGED_IN, message)
        return Outcome({})

    def _new_session(self, params: Params) -> Outcome:
        """Begin a conversation about the notes of a folder."""
        opened = self._open_session(params, None)
        state = {"sessionId": opened.session.conversation.id, **_session_state(opened)}
        return Outcome(state, lambda: self._introduce(opened))

    def _load_session(self, params: Params) -> Outcome:
        """Continue a conversation, and show its messages to the editor."""
        opened = self._open_session(params, params.text("sessionId"))
        for update in replay(opened.session, self._runner.features):
            self._runner.send_to(opened.session, update)
        return Outcome(_session_state(opened), lambda: self._introduce(opened))

    def _resume_session(self, params: Params) -> Outcome:
        """Continue a conversation; the editor has its messages. If it has not, it may say so as in
        the draft of the protocol's second version.
        """
        if params.part("replayFrom").optional_text("type") == "start":
            return self._load_session(params)
        opened = self._open_session(params, params.text("sessionId"))
        return Outcome(_session_state(opened), lambda: self._introduce(opened))

    def _introduce(self, opened: OpenSession) -> None:
        """Tell the editor, which knows the session now, what it can do and how full it is; then
        look for models.
        """
        self._runner.send_to(opened.session, available_commands())
        self._runner.send_usage(opened.session)
        # Servers may take seconds to answer
        threading.Thread(target=self._find_models, args=(opened,), daemon=True).start()

    def _find_models(self, opened: OpenSession) -> None:
        """Offer the models of the servers, too. This runs on a thread of its own."""
        session = opened.session
        found: set[str] = set()
        for listed in session.runtimes.list_models():
            found.update(listed.names)
        if found <= opened.models or not self._pool.has(opened):
            return
        opened.models |= found
        with suppress(EditorLeft):
            self._runner.send_to(session, config_update(config_options(session, opened.models)))

    def _list_sessions(self, params: Params) -> Outcome:
        """A page of the conversations about the notes of a folder."""
        return Outcome(self._pool.page(params.folder("cwd"), params.optional_text("cursor")))

    def _close_session(self, params: Params) -> Outcome:
        """Close a session and what only it needed; its answer has been stopped."""
        self._pool.close(self._pool.session(params))
        return Outcome({})

    def _delete_session(self, params: Params) -> Outcome:
        """Delete a conversation; its answer has been stopped."""
        self._pool.delete(params.text("sessionId"))
        return Outcome({})

    def _set_mode(self, params: Params) -> Outcome:
        """Let another agent answer from now on; the protocol calls it a mode."""
        opened = self._pool.session(params)
        opened.session.runtimes.use_agent(params.text("modeId"))
        return Outcome({}, lambda: self._tell_options(opened))

    def _set_option(self, params: Params) -> Outcome:
        """Choose another model, agent or strategy."""
        opened = self._pool.session(params)
        option = params.text("configId")
        change = OPTION_CHANGES.get(option)
        if change is None:
            known = ", ".join(OPTION_CHANGES)
            problem = f"there is no option {option}; there are {known}"
            raise RequestRefused(connection.INVALID_PARAMS, problem)
        agent = current_agent(opened.session)
        change(opened.session, params.text("value"))

        def tell() -> None:
            if current_agent(opened.session) != agent:
                self._runner.send_to(opened.session, mode_update(opened.session))
            self._runner.send_usage(opened.session)

        return Outcome({"configOptions": config_options(opened.session, opened.models)}, tell)

    def _tell_options(self, opened: OpenSession) -> None:
        options = config_options(opened.session, opened.models)
        self._runner.send_to(opened.session, config_update(options))
        self._runner.send_usage(opened.session)

    def _prompt(self, params: Params) -> Outcome:
        """Answer a message or run a command; tells the reason why it ended."""
        id_ = params.text("sessionId")
        try:
            opened = self._pool.session(params)
            message = read_prompt(params.items("prompt"), opened.session.vault.root)
            return Outcome(
                {"stopReason": self._runner.run(opened, message, self._prompts[id_].stop)}
            )
        finally:
            del self._prompts[id_]

    def _open_session(self, params: Params, id_: str | None) -> OpenSession:
        folder = params.folder("cwd")
        if folder is None:
            raise RequestRefused(connection.INVALID_PARAMS, "cwd is missing")
        opened = self._pool.open(folder, id_)
        _report_servers(opened.session, params)
        app = self._pool.app(folder)
        app.vault.embed_in_background(lambda: bool(self._prompts), app.message_embedder())
        return opened


Work = Callable[[NoteAgent, Params], Outcome]

# What an editor can want, beside cancelling
_METHODS: Mapping[str, Work] = {
    "initialize": NoteAgent._initialize,
    "authenticate": NoteAgent._authenticate,
    "session/new": NoteAgent._new_session,
    "session/load": NoteAgent._load_session,
    "session/resume": NoteAgent._resume_session,
    "session/list": NoteAgent._list_sessions,
    "session/close": NoteAgent._close_session,
    "session/delete": NoteAgent._delete_session,
    "session/set_mode": NoteAgent._set_mode,
    "session/set_config_option": NoteAgent._set_option,
    "session/prompt": NoteAgent._prompt,
}


def _session_state(opened: OpenSession) -> Json:
    """The state of a session that an editor has opened."""
    return {
        "modes": session_modes(opened.session),
        "configOptions": config_options(opened.session, opened.models),
    }


def _terminal_logins() -> list[Json]:
    """Ways to store a key: the editor runs this program in a terminal with these arguments added.
    Hosted providers need one.
    """
    hosted = [name for name in providers.names() if providers.provider(name).preferred_models]
    return [_terminal_login(name) for name in hosted]


def _terminal_login(provider: str) -> Json:
    return {
        "id": f"key-{provider}",
        "type": "terminal",
        "name": f"Key for {provider}",
        "description": f"Store an API key, as `zkchat keys set {provider}` does.",
        "args": ["--set-key", provider],
    }


def _refusal(error: ZkchatError) -> RequestRefused:
    """The error that the editor gets for one of zkchat's."""
    code = connection.FAILED
    if isinstance(error, UsageError | ConfigError):
        code = connection.INVALID_PARAMS
    if isinstance(error, ProviderError):
        kinds = {"auth": connection.NOT_LOGGED_IN, "unknown_model": connection.INVALID_PARAMS}
        code = kinds.get(error.kind, connection.FAILED)
    return RequestRefused(code, on_one_line(error.message, error.hint), {"code": error.code})


def _report_servers(session: ZkChatSession, params: Params) -> None:
    """Say with the first answer that the tools of these MCP servers are not offered: only the
    user's own settings add servers.
    """
    names = [each.optional_text("name") or "?" for each in params.items("mcpServers")]
    if names:
        shown = truncate(sanitize_name(", ".join(names)), MAX_NAMES)
        session.memory.notify(
            f"MCP servers that an editor hands over are not supported: {shown}",
            "To use them here, add them to your settings as tables [mcp.servers.NAME].",
        )
