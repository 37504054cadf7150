"""What several commands look up in a conversation: a question by its number, the last answer, a
source, a note.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError, on_one_line
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.messages import ZkChatMessage, is_chat
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.provenance import Exchange, last_exchange
from zkchat_cli.slash import numbered_turns
from zkchat_cli.slash.base import ChoiceOption, CommandResult
from zkchat_cli.slash.numbered_turns import TurnPart
from zkchat_cli.text.numbers import parse_number, plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.search.search_watch import SearchWatch
from zkchat_cli.views import stored_items
from zkchat_cli.views.text import StyledLine, styled_line

# Most characters of a message in a list
MAX_OPENING = 60
SOURCE_NUMBER = re.compile(r"\[?(\d{1,9})\]?", re.ASCII)


def find_question(session: ZkChatSession, number: str = "") -> TurnPart:
    """The question of turn `number` (default: the last). Raises UsageError that names the valid
    turns.
    """
    turn = number or numbered_turns.LAST
    question, *_ = numbered_turns.resolve_turn(session.history, f"{turn} question")
    return question


def last_answer(session: ZkChatSession) -> Exchange:
    """The last answer with its question. Raises UsageError if there is none."""
    last = last_exchange(session.history)
    if last is None:
        raise UsageError("there is no answer yet", "Ask something first.")
    return last


def questions_in(messages: Sequence[ZkChatMessage]) -> list[ZkChatMessage]:
    """Those of the messages that are the user's."""
    return [message for message in messages if message.role == "user"]


def opening(message: ZkChatMessage) -> str:
    """The beginning of a message, for a line of a list."""
    return truncate(message.display_text, MAX_OPENING)


def parse_turn_count(argument: str) -> int:
    """The number of turns in a command's argument; 1 when it is empty. Raises UsageError."""
    number = parse_number(argument or "1")
    if not number:
        raise UsageError(
            f"{argument[:40]!r} is not a number of turns", "Give a number, or nothing for one turn."
        )
    return number


def complete_turns(parts: Iterable[TurnPart]) -> dict[str, str]:
    """Completions for numbers of turns: the latest first, each with its opening."""
    openings: dict[str, str] = {}
    for each in reversed(list(parts)):
        openings[str(each.turn)] = opening(each.message)
    return openings


def complete_questions(session: ZkChatSession) -> dict[str, str]:
    """Completions for numbers of questions: the latest first, each with its opening."""
    parts = numbered_turns.list_turn_parts(session.history)
    return complete_turns(each for each in parts if each.part == "question")


def numbered_chunk(session: ZkChatSession, argument: str) -> ContentChunk | None:
    """The excerpt with this source number (`3`, `[3]`); None if there is none, or the argument is
    something else, such as `[[3]]`.
    """
    number = SOURCE_NUMBER.fullmatch(argument)
    return session.state.references.chunk(int(number[1])) if number else None


def note_text(session: ZkChatSession, path: str) -> str | None:
    """The text of a note; None if it is deleted or cannot be read."""
    with suppress(VaultError):
        return session.vault.reader.read(path)
    return None


def unready_lines(watch: SearchWatch) -> Iterator[StyledLine]:
    """A line if the watched searches lacked vectors."""
    unready = watch.warning()
    if unready is not None:
        yield styled_line(f"! {on_one_line(unready.message, unready.hint)}", "yellow")


def model_text(runtime: Runtime) -> str:
    """`ollama/qwen3, context window 32,768 tokens (reported by the server)`"""
    window = runtime.window
    return f"{runtime.model.name}, context window {window.tokens:,} tokens ({window.source})"


def conversation_options(conversations: Iterable[ConversationOverview]) -> list[ChoiceOption]:
    """Conversations to choose from: title, id, time and size."""
    return [
        ChoiceOption(
            each.id,
            stored_items.display_title(each),
            f"{each.id}, {stored_items.size_and_time(each)}",
        )
        for each in conversations
    ]


def resume_conversation(session: ZkChatSession, id_: str) -> CommandResult:
    """Switch to the conversation with this id. Raises StoreError if there is none."""
    other = session.open_conversation(id_)
    title = truncate(other.conversation.title or other.conversation.id, stored_items.MAX_TITLE)
    messages = plural(sum(map(is_chat, other.history)), "message")
    return CommandResult(f"Resumed “{title}” ({messages}).", session=other)
