"""Sentences of the notes for an answer without a source: if a model answers badly, the reader still
sees what the notes say.

The offline provider would quote them, and is sure that they answer.
"""

from zkchat_cli.chat.passage_search import PassageSearch
from zkchat_cli.chat.runtime import SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import TurnInProgress
from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.verify import VerificationResult, verify_citations
from zkchat_cli.models.citations import FoundSentence
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.models.prompts import PromptMessage

MOST_SENTENCES = 2


def find_evidence(
    turn: TurnInProgress,
    verified: VerificationResult,
    state: ConversationState,
    services: SessionServices,
) -> tuple[FoundSentence, ...]:
    """The best sentences for the question of this turn, each verified in its note; none if the
    answer has a source, if the settings want none, and for what only a language model can do.
    """
    is_grounded = any(each.relative_path is not None for each in verified.citations)
    if is_grounded or not _wants_evidence(turn):
        return ()
    search = PassageSearch(services, state)
    text = turn.user.prompt_text
    chunks = []
    for number, chunk in enumerate(search.find(text), 1):
        chunks.append(chunk.model_copy(update={"number": number}))
    quotes = _quote(text, chunks, search, services)
    sentences = []
    for citation in verify_citations(quotes, CitableSources(chunks)).citations:
        path = citation.relative_path
        if citation.verdict != "verified" or citation.quote is None or path is None:
            continue
        sentences.append(
            FoundSentence(
                quote=citation.quote,
                wikilink=services.vault.link_to(path),
                relative_path=path,
                heading=citation.heading,
                start_line=citation.start_line,
                end_line=citation.end_line,
            )
        )
    return tuple(sentences[:MOST_SENTENCES])


def _wants_evidence(turn: TurnInProgress) -> bool:
    """Whether the settings want evidence for this turn: by default for models without tools."""
    runtime = turn.runtime
    wanted = runtime.settings.chat.evidence
    if runtime.model.searches_itself:
        return False
    if wanted == "auto":
        return runtime.model.calls_tools is False or turn.user.retrieval == "before"
    return wanted


def _quote(
    text: str, chunks: list[ContentChunk], search: PassageSearch, services: SessionServices
) -> str:
    """The sentences that answer, quoted with the numbers of their chunks; empty if the offline
    provider would not be sure of them.
    """
    # Deferred: only an answer without sources needs it, and it would slow the start
    from zkchat_cli.llm.offline.answer import answering_quotes, format_quotes
    from zkchat_cli.llm.offline.asked_turn import read_excerpts
    from zkchat_cli.llm.offline.ranking import rank_passages
    from zkchat_cli.llm.offline.requests import parse_request

    question = search.analyze(text)
    if question is None or not chunks or parse_request(text).kind is None:
        return ""
    found = PromptMessage(role="user", content="", tokens=0, kind="documents", chunks=tuple(chunks))
    ranked = rank_passages(question, read_excerpts([found]), services.vault.similarities)
    if not ranked.is_answer:
        return ""
    return format_quotes(answering_quotes(ranked, MOST_SENTENCES, ""))
