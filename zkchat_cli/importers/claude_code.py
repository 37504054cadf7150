"""A session of Claude Code, `~/.claude/projects/PROJECT/SESSION.jsonl`. The messages of its
subagents are a branch of their own.

Every record has a `uuid` and the `parentUuid` of the one before; results of tools come back as
messages of the user.
"""

from pathlib import PurePath

from zkchat_cli.importers._agent_session import (
    AgentSession,
    blocks_of,
    content_text,
    read_records,
)
from zkchat_cli.importers.base import Record, SessionImporter, parse_call
from zkchat_cli.models.archive import ConversationArchive

_PROGRAM = "claude-code"
_NOT_SAID = (
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<task-notification>",
    "[Request interrupted by user",
)
"""The beginnings of texts with the user's role that the user has not written to Claude."""


def read_claude_code(data: bytes, name: str, *, vault: str, now: str) -> ConversationArchive:
    """The conversation in the log with this file name. Raises UsageError."""
    records = read_records(data)
    session_id = PurePath(name).stem
    for record in records:
        if isinstance(record.get("sessionId"), str):
            session_id = record["sessionId"]
            break
    log = _ClaudeCodeLog(AgentSession(_PROGRAM, session_id, vault, now))
    for record in records:
        log.add(record)
    return log.session.archive()


class _ClaudeCodeLog:
    """Adds the records of a log to a session."""

    def __init__(self, session: AgentSession) -> None:
        self.session = session
        # The message that each record belongs to or follows, by the record's `uuid`
        self._last_of: dict[str, str | None] = {}

    def add(self, record: Record) -> None:
        """Add a record: a part of an answer, an input, the title, or one that is only kept."""
        last = self._message_before(record)
        message = record.get("message")
        if record.get("type") == "summary":
            self.session.title = str(record.get("summary") or "")
        elif not isinstance(message, dict):
            self.session.other_records.append(record)
        elif record.get("type") == "assistant" and not record.get("isApiErrorMessage"):
            last = self._add_answer(record, message, last)
        elif _is_input(record):
            last = self._add_input(record, message, last)
        else:
            self.session.other_records.append(record)
        self._last_of[str(record.get("uuid"))] = last
        if last is not None and not record.get("isSidechain"):
            self.session.head_id = last

    def _message_before(self, record: Record) -> str | None:
        """The id of the message that this record follows."""
        for parent in (record.get("parentUuid"), record.get("logicalParentUuid")):
            if isinstance(parent, str) and parent in self._last_of:
                return self._last_of[parent]
        return None if record.get("isSidechain") else self.session.head_id

    def _add_answer(self, record: Record, message: Record, last: str | None) -> str:
        """Add a part of an answer, which is spread over several records with one `message.id`.
        Returns the id of the message that follows from now on.
        """
        count = len(self.session.messages)
        model = message.get("model")
        id_ = self.session.add(
            str(message.get("id") or record.get("uuid")),
            "assistant",
            "",
            record.get("timestamp"),
            last,
            model=model if isinstance(model, str) else None,
            tool_calls=[],
        )
        answer = self.session.messages[id_]
        content = message.get("content")
        parts = (answer["content"], content_text(content, "text"))
        answer["content"] = "\n\n".join(part for part in parts if part)
        for block in blocks_of(content, "tool_use"):
            call = parse_call(block.get("id"), block.get("name"), block.get("input"))
            answer["tool_calls"].append(call)
        is_new = len(self.session.messages) > count
        return id_ if is_new or last is None else last

    def _add_input(self, record: Record, message: Record, last: str | None) -> str | None:
        """Add the results of tools and the words of the user."""
        uuid = record.get("uuid")
        time = record.get("timestamp")
        content = message.get("content")
        for result in blocks_of(content, "tool_result"):
            call_id = str(result.get("tool_use_id"))
            text = content_text(result.get("content"), "text")
            last = self.session.add(
                f"{uuid} {call_id}", "tool", text, time, last, tool_call_id=call_id
            )
        text = content_text(content, "text")
        if text:
            last = self.session.add(f"{uuid}", "user", text, time, last)
        return last


def _is_input(record: Record) -> bool:
    """Whether a record is an input of the user, and not one that Claude Code wrote."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    is_internal = record.get("isMeta") or record.get("isCompactSummary")
    if content_text(content, "text").lstrip().startswith(_NOT_SAID):
        is_internal = not blocks_of(content, "tool_result")
    return record.get("type") == "user" and not is_internal


IMPORTER = SessionImporter(program=_PROGRAM, read=read_claude_code)
