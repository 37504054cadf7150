"""Sessions of Codex: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`.

A record is `{"timestamp", "type", "payload"}`; the items that a model was sent and said are those of type `response_item`. Early versions
wrote the items without that frame. The program's own instructions, and events that repeat what an item says, are no messages.
"""

from pathlib import PurePath

from zkchat_cli.importers.agent_logs import Record, SessionBuilder, blocks_of, content_text, read_records, tool_call
from zkchat_cli.models import ConversationArchive

_INSTRUCTIONS = ("<environment_context>", "<user_instructions>", "<permissions instructions>", "<turn_aborted>", "# AGENTS.md instructions")
"""How a user's message begins that the program wrote."""
_REPEATED = ("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "token_count")


def read_session(data: bytes, name: str, *, vault: str, now: str) -> ConversationArchive:
    """The conversation in a log. Raises UsageError."""
    records = list(read_records(data))
    first = records[0][1] if records else {}
    session_id = _payload(first).get("id")
    reader = _CodexReader(SessionBuilder("codex", session_id if isinstance(session_id, str) else PurePath(name).stem, vault, now))
    for number, record in records:
        reader.read(number, record)
    return reader.session.archive()


def _payload(record: Record) -> Record:
    payload = record.get("payload", record)
    return payload if isinstance(payload, dict) else {}


class _CodexReader:
    def __init__(self, session: SessionBuilder) -> None:
        self.session = session
        self._model: str | None = None
        self._thoughts: list[str] = []
        self._answer_id: str | None = None
        """The answer that further tool calls belong to."""

    def read(self, number: int, record: Record) -> None:
        type_, item, time = record.get("type"), _payload(record), record.get("timestamp")
        if "payload" in record and type_ != "response_item":
            if type_ == "turn_context" and isinstance(item.get("model"), str):
                self._model = item["model"]
            if not (type_ == "event_msg" and item.get("type") in _REPEATED):
                self.session.keep_record(record)
            return
        kind, content, role = item.get("type"), item.get("content"), item.get("role")
        text = content_text(content, "input_text", "output_text", "text") if kind == "message" else ""
        if text and role == "user" and not text.lstrip().startswith(_INSTRUCTIONS):
            self._answer_id = None
            self.session.head_id = self.session.add(f"{number}", "user", text, time, self.session.head_id)
        elif text and role == "assistant":
            self._add_answer(number, text, time)
        elif kind == "reasoning":
            self._thoughts += [part["text"] for part in blocks_of(item.get("summary"), "summary_text") if isinstance(part.get("text"), str)]
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            arguments = item.get("arguments", item.get("input", item.get("action")))
            call = tool_call(item.get("call_id"), item.get("name", "shell"), arguments)
            answer_id = self._answer_id or self._add_answer(number, "", time)
            self.session.messages[answer_id]["tool_calls"].append(call)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._add_result(number, item, time)
        else:
            self.session.keep_record(record)

    def _add_answer(self, number: int, text: str, time: object) -> str:
        thoughts, self._thoughts = "\n\n".join(self._thoughts) or None, []
        id_ = self.session.add(
            f"{number}", "assistant", text, time, self.session.head_id, model=self._model, reasoning=thoughts, tool_calls=[]
        )
        self.session.head_id = self._answer_id = id_
        return id_

    def _add_result(self, number: int, item: Record, time: object) -> None:
        output = item.get("output")
        text = output.get("content") if isinstance(output, dict) else content_text(output, "input_text", "output_text", "text")
        self._answer_id = None
        call_id = str(item.get("call_id"))
        self.session.head_id = self.session.add(
            f"{number}", "tool", text if isinstance(text, str) else str(output), time, self.session.head_id, tool_call_id=call_id
        )
