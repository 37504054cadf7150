"""Sessions of Claude Code: `~/.claude/projects/PROJECT/SESSION.jsonl`.

Every record has a `uuid` and the `parentUuid` of the one before. An answer is spread over several records with one `message.id`, each with
a block; results of tools come back as messages of the user.
"""

from pathlib import PurePath
from typing import Any

from zkchat_cli.importers.agent_logs import Record, SessionBuilder, blocks_of, content_text, read_records, token_usage, tool_call
from zkchat_cli.models import ConversationArchive


def read_session(data: bytes, name: str, *, vault: str, now: str) -> ConversationArchive:
    """The conversation in a log; what its subagents said is a branch of its own. Raises UsageError."""
    records = [record for _, record in read_records(data)]
    session_id = next((record["sessionId"] for record in records if isinstance(record.get("sessionId"), str)), PurePath(name).stem)
    reader = _ClaudeCodeReader(SessionBuilder("claude-code", session_id, vault, now))
    for record in records:
        reader.read(record)
    return reader.session.archive()


class _ClaudeCodeReader:
    def __init__(self, session: SessionBuilder) -> None:
        self.session = session
        self._last_of: dict[str, str | None] = {}
        """The message that each record belongs to or follows, by the record's `uuid`."""
        self._answers: dict[str, str] = {}
        """The id of each answer by the provider's `message.id`."""

    def read(self, record: Record) -> None:
        type_, message = record.get("type"), record.get("message")
        if type_ == "summary" and isinstance(record.get("summary"), str):
            self.session.title = record["summary"]
        parent_id = self._parent_of(record)
        last = parent_id
        if isinstance(message, dict) and type_ == "assistant":
            last = self._read_answer(record, message, parent_id)
        elif isinstance(message, dict) and type_ == "user" and not record.get("isMeta") and not record.get("isCompactSummary"):
            last = self._read_user(record, message, parent_id)
        elif type_ != "summary":
            self.session.keep_record(record)
        self._last_of[str(record.get("uuid"))] = last
        if last is not None and not record.get("isSidechain"):
            self.session.head_id = last

    def _parent_of(self, record: Record) -> str | None:
        for name in ("parentUuid", "logicalParentUuid"):
            parent = record.get(name)
            if isinstance(parent, str) and parent in self._last_of:
                return self._last_of[parent]
        return None if record.get("isSidechain") else self.session.head_id

    def _read_user(self, record: Record, message: dict[str, Any], parent_id: str | None) -> str | None:
        content, time, uuid = message.get("content"), record.get("timestamp"), record.get("uuid")
        for result in blocks_of(content, "tool_result"):
            call_id = str(result.get("tool_use_id"))
            text = content_text(result.get("content"), "text")
            parent_id = self.session.add(f"{uuid} {call_id}", "tool", text, time, parent_id, tool_call_id=call_id)
        if text := content_text(content, "text"):
            parent_id = self.session.add(f"{uuid}", "user", text, time, parent_id)
        return parent_id

    def _read_answer(self, record: Record, message: dict[str, Any], parent_id: str | None) -> str:
        content, usage = message.get("content"), message.get("usage")
        key = str(message.get("id") or record.get("uuid"))
        is_new = key not in self._answers
        if is_new:
            model = message.get("model")
            self._answers[key] = self.session.add(
                key, "assistant", "", record.get("timestamp"), parent_id, model=model if isinstance(model, str) else None, tool_calls=[]
            )
        id_ = self._answers[key]
        values = self.session.messages[id_]
        values["content"] = "\n\n".join(filter(None, (values["content"], content_text(content, "text"))))
        thoughts = [block["thinking"] for block in blocks_of(content, "thinking") if isinstance(block.get("thinking"), str)]
        values["reasoning"] = "\n\n".join(filter(None, (values.get("reasoning"), *thoughts))) or None
        values["tool_calls"] += [tool_call(b.get("id"), b.get("name"), b.get("input")) for b in blocks_of(content, "tool_use")]
        if isinstance(usage, dict):
            parts = [usage.get(name) or 0 for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
            if all(isinstance(part, int) for part in parts):
                values["usage"] = token_usage(sum(parts), usage.get("output_tokens"), parts[2])
        return id_ if is_new or parent_id is None else parent_id
