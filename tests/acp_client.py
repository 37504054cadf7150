"""An editor of the SDK, as a test uses it: it keeps what the agent says, and answers its questions
in the same way each time.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from acp import schema
from acp.client import ClientSideConnection
from acp.interfaces import Client
from conftest import Program, fork_server_address
from fork_server import ProgramRun


class Editor(Client):
    def __init__(self, answer: str = "no") -> None:
        self.answer = answer
        self.updates: list[Any] = []
        self.questions: list[schema.ToolCallUpdate] = []
        self.heard = asyncio.Event()
        """Set when the agent has said something of an answer."""
        self.agent: Any = None

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:  # noqa: ARG002
        self.updates.append(update)
        if update.session_update == "agent_message_chunk":
            self.heard.set()

    async def request_permission(
        self,
        session_id: str,  # noqa: ARG002
        tool_call: Any,
        options: Any,  # noqa: ARG002
        **_: Any,
    ) -> Any:
        self.questions.append(tool_call)
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(option_id=self.answer, outcome="selected")
        )

    def on_connect(self, conn: Any) -> None:
        pass

    def said(self, kind: str = "agent_message_chunk") -> str:
        return "".join(
            update.content.text for update in self.updates if update.session_update == kind
        )

    async def ask(self, session_id: str, *parts: Any) -> str:
        """Send a prompt; gives the reason why the answer ended."""
        blocks = [
            schema.TextContentBlock(type="text", text=part) if isinstance(part, str) else part
            for part in parts
        ]
        reason: str = (await self.agent.prompt(session_id=session_id, prompt=blocks)).stop_reason
        return reason


@asynccontextmanager
async def editor(zkchat: Program, *arguments: str, answer: str = "no") -> AsyncIterator[Editor]:
    """An editor with an agent that it has started in the vault."""
    client = Editor(answer)
    (theirs, to_agent), (from_agent, answers) = os.pipe(), os.pipe()
    streams = [theirs, answers, os.open(os.devnull, os.O_WRONLY)]
    run = ProgramRun(
        fork_server_address(),
        ["acp", *arguments],
        zkchat.environment,
        zkchat.vault,
        streams,
        terminal=False,
    )
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(from_agent, "rb")
    )
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(to_agent, "wb")
    )
    agent = ClientSideConnection(
        client, asyncio.StreamWriter(transport, protocol, None, loop), reader
    )
    client.agent = agent
    try:
        await agent.initialize(protocol_version=1)
        yield client
    finally:
        await agent.close()
        transport.close()
        await asyncio.to_thread(run.end)
