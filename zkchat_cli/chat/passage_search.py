"""Searches the notes for a question, as zkchat does for a model that does not search itself."""

from typing import TYPE_CHECKING

from zkchat_cli.chat.runtime import SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.errors import VaultError
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.references.chunk_budget import rank_chunks

if TYPE_CHECKING:
    from zkchat_cli.llm.offline.question import AnalyzedQuestion

# Results of a search; the offline provider takes as many
MOST_PASSAGES = 10
# Earlier questions that may name the subject of a follow-up
EARLIER_QUESTIONS = 5


class PassageSearch:
    """Finds the passages for the questions of one conversation."""

    def __init__(self, services: SessionServices, state: ConversationState) -> None:
        self._services = services
        self._state = state

    def find(
        self, text: str, *, follows: bool = True, about_named: bool = False
    ) -> list[ContentChunk]:
        """The passages for a question, best first.

        The question before a follow-up is searched for too. Returns nothing for small talk, for a
        question about whole documents that it names (`about_named`), and if the vault is gone.
        """
        question = self.analyze(text, follows=follows)
        if question is None or (about_named and question.about_document):
            return []
        search = self._services.vault.search
        try:
            found = [search(query, MOST_PASSAGES) for query in question.searches]
        except VaultError:
            # The scan before this has reported that the vault is gone
            return []
        passages: dict[str, ContentChunk] = {}
        for call, rank in rank_chunks(found):
            chunk = found[call][rank]
            passages[chunk.id] = chunk
        return list(passages.values())

    def warm_up(self) -> None:
        """Load in advance what the first search for a question needs."""
        self.analyze("…", follows=False)

    def analyze(self, text: str, *, follows: bool = True) -> "AnalyzedQuestion | None":
        """What a question is about; a follow-up is read together with the questions before it. None
        for small talk.
        """
        # Imported here because only a turn that searches needs it, and it would slow the start
        from zkchat_cli.llm.offline.question import analyze_question
        from zkchat_cli.llm.offline.small_talk import reply_to_small_talk

        if reply_to_small_talk(text, (), ()) is not None:
            return None
        earlier: list[ZkChatMessage] = []
        if follows:
            earlier = [each for each in self._state.history if each.role == "user"]
        asked = [_question(each.prompt_text, each.id) for each in earlier[-EARLIER_QUESTIONS:]]
        asked.append(_question(text, ""))
        return analyze_question(asked, len(asked) - 1)


def _question(content: str, id_: str) -> PromptMessage:
    return PromptMessage(
        role="user", content=content, tokens=0, kind="conversation", source_ids=(id_,)
    )
