"""Quotes your notes, without a model, a key or a network. It is not a language model, and says so.

It runs the same tool loop as the others: it searches, reads the documents that the message names,
and answers with the most relevant sentences, word for word, each with its citation. Below a
threshold it says that it is not sure, and quotes the nearest it found.
"""

from collections.abc import Generator
from dataclasses import dataclass

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Delta, Model, ModelConfig, Provider, Request
from zkchat_cli.models.notes import Similarities


@dataclass
class OfflineModel(Model):
    """Not a language model. `similarities` compares a question with passages by meaning; without
    it, words decide alone.
    """

    searches_itself = True
    summarizes = False
    works_in_steps = False
    takes_images = False
    knows_tools = True
    only_tools = frozenset(
        (
            "find_excerpts",
            "read_zk_document",
            "list_zk_documents",
            "find_backlinks",
            "find_forward_links",
            "find_link_path",
        )
    )
    similarities: Similarities | None = None
    name: str = "offline"

    def prepare(self) -> None:
        """Load the question analysis and the ranking. Nothing needs them before the first
        question.
        """
        from zkchat_cli.llm.offline import responder  # noqa: F401

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        """Tool calls, or an answer in quotations."""
        from zkchat_cli.llm.offline.responder import answer_request

        return answer_request(request, self.similarities)


def _open(config: ModelConfig) -> Model:
    if config.name:
        raise ProviderError(
            "unknown_model",
            f"offline has no model {config.name!r}",
            "It has no models at all: use --model offline",
        )
    return OfflineModel(config.similarities)


PROVIDER = Provider(name="offline", open=_open, label="quotes your notes; no model, no network")
