"""Runs what the user of an editor has typed, a message or a command, and asks the user there."""

import threading
from collections.abc import Generator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial

from zkchat_cli import events, slash
from zkchat_cli.acp.connection import Connection, EditorLeft, Json, RequestRefused
from zkchat_cli.acp.prompt_blocks import EditorMessage
from zkchat_cli.acp.session_options import (
    config_options,
    config_update,
    current_agent,
    mode_update,
)
from zkchat_cli.acp.session_pool import OpenSession
from zkchat_cli.acp.turn_updates import TurnUpdates, usage_updates
from zkchat_cli.acp.updates import (
    Features,
    answer_chunk,
    change_content,
    compaction_update,
    result_text,
    tool_progress,
)
from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import CostLimitReached, on_one_line
from zkchat_cli.llm.stop_signal import STOP, raise_if_stopped, wait_for
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.slash.base import ChangeProposal, CommandResult
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.vault.edit.approval import ALLOWED, DECLINED, DECLINED_CALL, Decision
from zkchat_cli.vault.edit.hunk_review import (
    Choice,
    HunkAnswer,
    HunkQuestion,
    can_divide,
    review_hunks,
)
from zkchat_cli.vault.edit.hunks import divide
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.views.turn_steps import call_question

# The protocol's reasons for the end of a turn, and the reasons for other ends of an answer
END = "end_turn"
STOP_REASONS = {"length": "max_tokens", "content_filter": "refusal"}
YES = {"optionId": "yes", "name": "Allow", "kind": "allow_once"}
ALWAYS = {"optionId": "always", "name": "Always allow this tool", "kind": "allow_always"}
NO = {"optionId": "no", "name": "Decline", "kind": "reject_once"}

HUNK_OPTIONS: tuple[Json, ...] = (
    YES,
    {"optionId": "all", "name": "Allow all of this note", "kind": "allow_once"},
    NO,
    {"optionId": "none", "name": "Decline the rest of this note", "kind": "reject_once"},
    {"optionId": "quit", "name": "Decline everything that is left", "kind": "reject_once"},
)
_CHOICES = {choice.name.lower(): choice for choice in Choice}


class PromptRunner:
    """Runs one prompt after another. `features` are what the editor can show."""

    def __init__(self, editor: Connection) -> None:
        self.features = Features()
        self._editor = editor
        # The session that is answering, and its current call; the user is asked about these
        self._current: ZkChatSession
        self._call: ToolCall

    def with_questions(self, app: App) -> App:
        """The app with sessions that ask the user of the editor."""
        return replace(
            app,
            approve=self._approve_change,
            approve_call=self._approve_call,
            approve_cost=self._ask_yes_or_no,
        )

    def run(self, opened: OpenSession, message: EditorMessage, stop: threading.Event) -> str:
        """Run a command or a turn until it ends or `stop` is set; returns the reason why it ended.
        Raises the error of a turn that failed.
        """
        session = opened.session
        self._current = session
        STOP.set(stop)
        try:
            raise_if_stopped()
            if slash.is_command(message.typed):
                return self._run_command(opened, message.typed)
            return self._run_turn(session, session.send(message.text, typed=message.typed))
        except EditorLeft:
            raise
        except KeyboardInterrupt:
            return "cancelled"
        except CostLimitReached as e:
            # The user has declined it
            self._say(on_one_line(f"{e.message[:1].upper()}{e.message[1:]}", e.hint))
            return END
        finally:
            # Other work of this thread is not stopped with it
            STOP.set(None)
            self.send_usage(session)

    def send_to(self, session: ZkChatSession, update: Json) -> None:
        """Tell the editor something about a session."""
        told = {"sessionId": session.conversation.id, "update": update}
        self._editor.notify("session/update", told)

    def send_usage(self, session: ZkChatSession) -> None:
        """Tell how full the window is, and what the conversation has cost."""
        for update in usage_updates(session):
            self.send_to(session, update)

    def _send(self, update: Json) -> None:
        self.send_to(self._current, update)

    def _say(self, text: str) -> None:
        """Show a text as a message of its own."""
        self._send(answer_chunk(text, self._current.services.new_id()))

    def _run_command(self, opened: OpenSession, line: str) -> str:
        session = opened.session
        options = config_options(session, opened.models)
        agent = current_agent(session)
        updates = TurnUpdates(session, self.features)
        result = slash.run(line, session)
        if result.question is not None and self._ask_yes_or_no(result.question.text):
            result = result.question.run()
        if result.proposal is not None:
            result = self._decide(result.proposal)
        if _is_for_a_terminal(result):
            self._say("The editor has its own way to do that.")
            return END
        self._show_result(result)
        if self.features.compactions:
            for done in reversed(updates.new_compactions()):
                self._send(compaction_update(done.id, "completed", done))
        if current_agent(session) != agent:
            self._send(mode_update(session))
        new_options = config_options(session, opened.models)
        if new_options != options:
            self._send(config_update(new_options))
        return self._run_turns_of(result)

    def _run_turns_of(self, result: CommandResult) -> str:
        """Run the turn of a command, and those that follow it."""
        reason = END
        while result.turn is not None:
            reason = self._run_turn(self._current, result.turn)
            if result.then is None:
                break
            self.send_usage(self._current)
            result = result.then()
            self._show_result(result)
        return reason

    def _show_result(self, result: CommandResult) -> None:
        shown = result_text(result)
        if shown:
            self._say(shown)

    def _run_turn(self, session: ZkChatSession, turn: Generator[events.Event, None, None]) -> str:
        """Run a turn and tell the editor about it; returns the reason why it ended.

        Raises the error of a turn that failed.
        """
        updates = TurnUpdates(session, self.features)
        status = "failed"
        reason = END
        try:
            with closing(turn):
                for event in turn:
                    raise_if_stopped()
                    if isinstance(event, events.TurnFailed):
                        raise event.error
                    if isinstance(event, events.ToolCallStarted):
                        self._call = event.call
                    if isinstance(event, events.TurnCompleted):
                        reason = STOP_REASONS.get(event.report.finish_reason, END)
                    for update in updates.of(event):
                        self._send(update)
            status = "completed"
        except KeyboardInterrupt:
            status = "cancelled"
            raise
        finally:
            for update in updates.end(status):
                self._send(update)
        return reason

    # Questions to the user

    def _approve_change(self, change: Change) -> Decision:
        """Ask about a change that a tool proposes."""
        return self._review(change, self._call.id)

    def _review(self, change: Change, call_id: str) -> Decision:
        """Ask about a proposed change with its diffs: if it has several hunks, about each."""
        if can_divide(change) and sum(len(divide(file)) for file in change.files) > 1:
            return review_hunks(change, partial(self._ask_about_hunk, call_id)).decision
        wanted = self._change_question(change, call_id)
        return ALLOWED if self._permission(wanted, YES, NO) == YES else DECLINED

    def _ask_about_hunk(self, call_id: str, question: HunkQuestion) -> HunkAnswer:
        """Ask about a hunk, shown as the change of its note by this hunk alone."""
        number = f"({question.number}/{question.total})"
        shown = question.change._replace(
            summary=f"{number} {question.change.summary}", files=(question.step,)
        )
        wanted = self._change_question(shown, call_id)
        chosen = self._permission(wanted, *HUNK_OPTIONS)
        return HunkAnswer(_CHOICES[chosen["optionId"]])

    def _change_question(self, change: Change, call_id: str) -> Json:
        content = change_content(change, self._current.vault.root)
        files = [{"path": each["path"]} for each in content if each["type"] == "diff"]
        return {
            "toolCallId": call_id,
            "title": reveal_invisible(change.summary),
            "kind": "edit",
            "content": content,
            "locations": files,
        }

    def _decide(self, proposal: ChangeProposal) -> CommandResult:
        """Ask about a change that a command proposes, as a call of its own."""
        id_ = self._current.services.new_id()
        title = reveal_invisible(proposal.change.summary)
        started = {"toolCallId": id_, "title": title, "kind": "edit", "status": "pending"}
        self._send({"sessionUpdate": "tool_call", **started})
        decision = self._review(proposal.change, id_)
        status = "completed" if decision.allowed else "failed"
        self._send(tool_progress(id_, status=status))
        return proposal.decide(decision)

    def _approve_call(self, call: ToolCall) -> Decision:
        wanted = {
            "toolCallId": call.id,
            "title": call_question(call),
            "kind": "other",
            "rawInput": call.arguments,
        }
        answer = self._permission(wanted, YES, ALWAYS, NO)
        if answer == NO:
            return DECLINED_CALL
        return Decision(allowed=True, always=answer == ALWAYS)

    def _ask_yes_or_no(self, question: str) -> bool:
        """Ask something that no tool call is about. The protocol shows it as a call of its own."""
        id_ = self._current.services.new_id()
        wanted = {"toolCallId": id_, "title": question, "kind": "other", "status": "pending"}
        self._send({"sessionUpdate": "tool_call", **wanted})
        answer = self._permission(wanted, YES, NO)
        status = "completed" if answer == YES else "failed"
        self._send(tool_progress(id_, status=status))
        return answer == YES

    def _permission(self, wanted: Json, *options: Json) -> Json:
        """The option that the user has chosen; NO if none."""
        asked = {
            "sessionId": self._current.conversation.id,
            "toolCall": wanted,
            "options": list(options),
        }
        with suppress(RequestRefused):
            told = wait_for(self._editor.request("session/request_permission", asked))
            chosen = told.part("outcome").optional_text("optionId")
            for option in options:
                if option["optionId"] == chosen:
                    return option
        return NO


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
