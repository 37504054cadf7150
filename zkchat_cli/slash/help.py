"""Commands to get help, or to leave."""

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, Lines, slash_command
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

KEYS = (
    ("Enter", "send; Alt+Enter or Ctrl+J starts a new line"),
    ("Tab", "complete /commands and their arguments, [[notes#headings, @files, #tags"),
    ("Ctrl+R", "search the input history; Up on an empty line goes back in it"),
    ("Ctrl+X Ctrl+E", "write in your editor"),
    (
        "Ctrl+C",
        "stop an answer and keep what arrived; clear the line; twice on an empty line: quit",
    ),
    ("Ctrl+D", "quit, on an empty line"),
)


@slash_command("[command]", lambda _: {command.name: command.help for command in slash.commands()})
def help_(_: ZkChatSession, argument: str) -> Lines:
    """List the commands and keys, or describe one command."""
    if argument:
        command = slash.find(argument.removeprefix("/"))
        yield styled_line(command.usage, "bold")
        for text in filter(None, (command.help, command.details)):
            yield styled_line(f"  {text}", indent=2)
        return
    topics = [
        (topic, [(command.usage, command.help) for command in map(slash.find, names.split())])
        for topic, (_, names) in slash.GROUPS.items()
    ]
    for topic, rows in (*topics, ("Keys", KEYS)):
        yield styled_line(topic, "bold")
        for left, right in rows:
            yield StyledLine((StyledSpan(f"  {left}", "cyan"),), (StyledSpan(right),), indent=6)
    yield styled_line(
        "/help NAME describes one command. A unique prefix of a name is enough.", indent=0
    )


@slash_command()
def quit_(session: ZkChatSession, _: str) -> CommandResult:
    """Leave the chat; the conversation stays stored.

    While turns cannot be stored, it says so and stays; /export saves them elsewhere, Ctrl-D leaves
    without them.
    """
    if session.store.persistent:
        session.flush()
    return CommandResult(quit=True)
