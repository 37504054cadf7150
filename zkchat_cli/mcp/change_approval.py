"""Asking the user through the client whether a change of notes may be made.

Clients of the protocol since 2026-07-28 get the question as the result of the call
(`input_required`), and call again with the answer; older ones get it during the call
(`elicitation/create`). A client that has declared neither is refused. Only `true` in the field of
the form is a yes: clients also send forms that nobody has filled in.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import anyio
from mcp import types
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp.types.version import is_version_at_least

from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.edit.approval import ALLOWED, DECLINED, Decision

# The first revision of the protocol in which the answer to a call may be a question
ASKS_BY_RESULT = "2026-07-28"
# A question that nobody has answered by then is a no
ANSWER_SECONDS = 600.0
KEY = "approval"
# Most characters of what a client says about its failure
LONGEST_PROBLEM = 200
FORM: types.ElicitRequestedSchema = {
    "type": "object",
    "properties": {
        "approve": {
            "type": "boolean",
            "title": "Make this change",
            "description": "Whether to make the change that is shown.",
        }
    },
    "required": ["approve"],
}
CLOSED = Decision(False, "closed without an answer: nothing was changed")
UNANSWERED = Decision(False, "not answered in time: nothing was changed")
CANNOT_ASK = (
    "This client cannot ask the user (it does not declare form elicitation), so nothing was "
    "changed. Use another client, or `zkchat chat --unsafe`."
)
_FORM_ELICITATION = types.ClientCapabilities(
    elicitation=types.ElicitationCapability(form=types.FormElicitationCapability())
)


class _Asked(NamedTuple):
    """What the client carries from a question to its answer: an id of the question, when it was
    asked, and the digest of what was shown. The SDK encrypts it and binds it to the call.
    """

    id: str
    time: float
    digest: str

    def write(self) -> str:
        return f"{self.id} {self.time} {self.digest}"


def _read_state(state: str | None) -> _Asked | None:
    """What was asked before; None on the first call."""
    if state is None:
        return None
    id_, asked_at, digest = state.split(" ")
    return _Asked(id_, float(asked_at), digest)


class ChangeApproval:
    """Asks about changes, and takes each answer once. `clock` counts seconds."""

    def __init__(
        self, seconds: float = ANSWER_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        # When an answer was taken, by the id of its question
        self._taken: dict[str, float] = {}

    async def ask(
        self, context: Context[Any, Any], question: str
    ) -> Decision | types.InputRequiredResult:
        """The user's decision, or the question that the client has to put to the user first.

        Raises ToolError or MCPError if the client cannot ask.
        """
        by_result = is_version_at_least(context.session.protocol_version, ASKS_BY_RESULT)
        if not _can_ask(context):
            if not by_result:
                raise ToolError(CANNOT_ASK)
            data = types.MissingRequiredClientCapabilityErrorData(
                required_capabilities=_FORM_ELICITATION
            )
            raise MCPError(
                types.MISSING_REQUIRED_CLIENT_CAPABILITY,
                CANNOT_ASK,
                data.model_dump(by_alias=True, mode="json", exclude_none=True),
            )
        if by_result:
            return self._ask_by_result(context, question)
        return await self._ask_during_call(context, question)

    def _ask_by_result(
        self, context: Context[Any, Any], question: str
    ) -> Decision | types.InputRequiredResult:
        """The decision in a repeated call; otherwise the question. It is asked again if what would
        be changed is not what was shown, or the answer was taken already.
        """
        digest = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
        asked = _read_state(context.request_state)
        answer = (context.input_responses or {}).get(KEY)
        if asked is None or not isinstance(answer, types.ElicitResult) or asked.digest != digest:
            return self._question(question, digest)
        now = self._clock()
        if now - asked.time > self._seconds:
            return UNANSWERED
        self._taken = {
            each: taken for each, taken in self._taken.items() if now - taken <= self._seconds
        }
        if asked.id in self._taken:
            return self._question(question, digest)
        self._taken[asked.id] = now
        return _decide(answer)

    def _question(self, question: str, digest: str) -> types.InputRequiredResult:
        asked = _Asked(secrets.token_hex(16), self._clock(), digest)
        params = types.ElicitRequestFormParams(message=question, requested_schema=FORM)
        return types.InputRequiredResult(
            input_requests={KEY: types.ElicitRequest(params=params)}, request_state=asked.write()
        )

    async def _ask_during_call(self, context: Context[Any, Any], question: str) -> Decision:
        try:
            with anyio.fail_after(self._seconds):
                answer = await context.session.elicit_form(question, FORM, context.request_id)
        except TimeoutError:
            return UNANSWERED
        except MCPError as e:
            problem = sanitize_name(truncate(e.message, LONGEST_PROBLEM))
            raise ToolError(
                f"The client could not ask the user: {problem}. Nothing was changed."
            ) from e
        return _decide(answer)


def _can_ask(context: Context[Any, Any]) -> bool:
    """Whether the client shows forms: `elicitation: {}` means that it does."""
    capabilities = context.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _decide(answer: types.ElicitResult) -> Decision:
    if answer.action == "cancel":
        return CLOSED
    is_yes = answer.action == "accept" and (answer.content or {}).get("approve") is True
    return ALLOWED if is_yes else DECLINED
