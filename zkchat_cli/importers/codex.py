"""A session of Codex, `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`. A record is
`{"timestamp", "type", "payload"}`; the messages to and from the model are in records of type
`response_item`. Older logs have these without an envelope.
"""

from pathlib import PurePath

from zkchat_cli.importers._agent_session import AgentSession, content_text, read_records
from zkchat_cli.importers.base import Record, SessionImporter, parse_call
from zkchat_cli.models.archive import ConversationArchive

_PROGRAM = "codex"
_INSTRUCTIONS = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "# AGENTS.md instructions",
)
"""The beginnings of messages that have the user's role, but that Codex wrote."""
_TEXT_TYPES = ("input_text", "output_text", "text")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")


def read_codex(data: bytes, name: str, *, vault: str, now: str) -> ConversationArchive:
    """The conversation in the log with this file name. Raises UsageError."""
    records = read_records(data)
    session_id = None
    if records:
        session_id = _item_of(records[0]).get("id") or records[0].get("id")
    if not isinstance(session_id, str):
        session_id = PurePath(name).stem
    log = _CodexLog(AgentSession(_PROGRAM, session_id, vault, now))
    for number, record in enumerate(records, start=1):
        log.add(f"{number}", record)
    return log.session.archive()


def _item_of(record: Record) -> Record:
    item = record.get("payload")
    return item if isinstance(item, dict) else {}


class _CodexLog:
    """Adds the records of a log to a session."""

    def __init__(self, session: AgentSession) -> None:
        self.session = session
        self._model: str | None = None
        # The answer that further tool calls belong to
        self._answer_id: str | None = None

    def add(self, key: str, record: Record) -> None:
        """Add a record; one that is no message, call or result is only kept."""
        item = _item_of(record)
        if record.get("type") == "turn_context" and isinstance(item.get("model"), str):
            self._model = item["model"]
        is_added = False
        if "payload" not in record:
            is_added = self._add_item(key, record, record.get("timestamp"))
        elif record.get("type") == "response_item":
            is_added = self._add_item(key, item, record.get("timestamp"))
        if not is_added:
            self.session.other_records.append(record)

    def _add_item(self, key: str, item: Record, time: object) -> bool:
        """Add an item if it is a message, a call or a result; whether it is one."""
        kind = item.get("type")
        role = item.get("role")
        text = content_text(item.get("content"), *_TEXT_TYPES) if kind == "message" else ""
        if text and role == "user" and not text.lstrip().startswith(_INSTRUCTIONS):
            self.session.head_id = self.session.add(key, "user", text, time, self.session.head_id)
            self._answer_id = None
        elif text and role == "assistant":
            self._add_answer(key, text, time)
        elif kind in _CALLS:
            self._add_call(key, item, time)
        elif kind in _RESULTS:
            self._add_result(key, item, time)
        else:
            return False
        return True

    def _add_answer(self, key: str, text: str, time: object) -> str:
        id_ = self.session.add(
            key,
            "assistant",
            text,
            time,
            self.session.head_id,
            model=self._model,
            tool_calls=[],
        )
        self.session.head_id = id_
        self._answer_id = id_
        return id_

    def _add_call(self, key: str, item: Record, time: object) -> None:
        """A call belongs to the answer before it; without one it gets an empty answer."""
        answer_id = self._answer_id or self._add_answer(key, "", time)
        arguments = item.get("arguments", item.get("input", item.get("action")))
        call = parse_call(item.get("call_id"), item.get("name", "shell"), arguments)
        self.session.messages[answer_id]["tool_calls"].append(call)

    def _add_result(self, key: str, item: Record, time: object) -> None:
        output = item.get("output")
        if isinstance(output, dict):
            result = output.get("content")
        else:
            result = content_text(output, *_TEXT_TYPES)
        self.session.head_id = self.session.add(
            key,
            "tool",
            result if isinstance(result, str) else str(output),
            time,
            self.session.head_id,
            tool_call_id=str(item.get("call_id")),
        )
        self._answer_id = None


IMPORTER = SessionImporter(program=_PROGRAM, read=read_codex)
