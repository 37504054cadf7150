"""What slash commands show, and the errors they raise."""

import pytest

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ZkchatError
from zkchat_cli.views.text import plain_text


def slash_output(line: str, session: ZkChatSession) -> str:
    result = slash.run(line, session)
    return result.text or plain_text(result.lines)


def slash_error(line: str, session: ZkChatSession) -> ZkchatError:
    """The error, which says what to do next."""
    with pytest.raises(ZkchatError) as e:
        slash.run(line, session)
    assert e.value.hint
    return e.value
