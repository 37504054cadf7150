"""Commands that check an answer and its sources."""

import re
from collections.abc import Generator, Sequence
from contextlib import suppress

from zkchat_cli.chat.sentence_judge import judge_by_model, judge_unclear
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.verify import CitedSentence, cited_sentences
from zkchat_cli.errors import UsageError, VaultError
from zkchat_cli.events import Event, TextDelta
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references import provenance
from zkchat_cli.references.chunk_budget import CUT_MARK
from zkchat_cli.references.documents import merge_references
from zkchat_cli.references.related_notes import find_related, used_notes
from zkchat_cli.slash.base import (
    CommandResult,
    Lines,
    NoteToOpen,
    find_question,
    last_answer,
    slash_command,
)
from zkchat_cli.text.numbers import line_range, plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.provenance import (
    citation_lines,
    did_you_mean,
    is_project_memory,
    provenance_lines,
)
from zkchat_cli.views.sources import (
    chunk_lines,
    excerpt_lines,
    locate_chunk,
    number_ranges,
    source_lines,
    source_name,
)
from zkchat_cli.views.text import IN_CHAT, StyledLine, StyledSpan, styled_line, usage_text

# Source numbers of one document, or ranges of them, that are listed
MAX_RANGES = 8
MAX_RESULTS = 10
SOURCE_NUMBER = re.compile(r"\[?(\d{1,9})\]?", re.ASCII)
_WITH_LINE = re.compile(r"(.+):(\d{1,9})")
_MARKS = {"does_not_support": "✗ not supported:", "unclear": "○ unclear:"}


def numbered_chunk(session: ZkChatSession, argument: str) -> ContentChunk | None:
    """The excerpt with this source number (`3`, `[3]`); None if there is none, or the argument is
    something else, such as `[[3]]`.
    """
    number = SOURCE_NUMBER.fullmatch(argument)
    return session.references.chunk(int(number[1])) if number else None


def note_text(session: ZkChatSession, path: str) -> str | None:
    """The text of a note; None if it is deleted or cannot be read."""
    with suppress(VaultError):
        return session.vault.reader.read(path)
    return None


@slash_command()
def refs(session: ZkChatSession, _: str) -> Lines:
    """List the documents of this conversation, and how often each was used.

    For each document: how often it was named, found and cited, its source numbers, and its summary.
    """
    documents = provenance.trace_documents(session.history).values()
    if not documents:
        yield styled_line("No documents have been named or found yet.")
    for document in documents:
        reference = document.references[0]
        cited = sum(max(1, len(citation.spans)) for _, citation in document.cited)
        uses = ("named", len(document.named)), ("found", len(document.found)), ("cited", cited)
        counts = ", ".join(
            f"{verb} {('once', 'twice')[n - 1] if n < 3 else f'{n} times'}" for verb, n in uses if n
        )
        path = reference.relative_path
        if path is None:
            near = did_you_mean(reference.candidate_links)
            yield styled_line(f"✗ {reference.wikilink} not found", "yellow")
            yield styled_line(f"    {counts}{near}", "dim")
            continue
        name = reference.wikilink if document.named else session.vault.link_to(path)
        is_deleted = not session.vault.has_file(path)
        mark = (StyledSpan("  deleted since", "yellow"),) if is_deleted else ()
        yield StyledLine((StyledSpan(name, "bold"),), (StyledSpan(path, "cyan", path), *mark))
        ranges = number_ranges(
            sorted({number for each in document.references for number in each.numbers})
        )
        numbers = (
            f"[{', '.join(ranges[:MAX_RANGES])}{', …' if len(ranges) > MAX_RANGES else ''}]"
            if ranges
            else ""
        )
        types = ", ".join(dict.fromkeys(each.reference_type for each in document.references))
        yield styled_line("    " + " · ".join(filter(None, (numbers, types, counts))))
        stored = next(
            (each.summary for each in document.references if each.summary is not None), None
        )
        if summary := (None if is_deleted else session.summaries.summary(path)) or stored:
            yield styled_line(f"    {summary}", "dim")


@slash_command("[N]", lambda session: [str(number) for number in session.references.numbers])
def sources(session: ZkChatSession, argument: str) -> Lines:
    """List the sources of the last answer; N shows excerpt N and its quotations.

    The excerpt is shown in the note as it is now, with its quotations marked and the answers that
    cite it.
    """
    if not argument:
        last = last_answer(session)
        named = last.question.references if last.question else ()
        references = merge_references(named, last.answer.references)
        limit = session.runtime.settings.references.max_displayed
        lines = source_lines(
            last.answer.citations,
            references,
            last.answer.uncited_statements or 0,
            limit,
            IN_CHAT.all_sources,
        )
        if deleted := [path for path in used_notes(last) if not session.vault.has_file(path)]:
            lines.append(styled_line(f"  deleted since: {', '.join(deleted)}", "yellow"))
        yield from lines or [styled_line("The last answer has no sources.")]
        return
    chunk = numbered_chunk(session, argument)
    if chunk is None or chunk.number is None:
        valid = ", ".join(number_ranges(session.references.numbers))
        raise UsageError(
            f"unknown source {truncate(argument, 40)}",
            f"Valid numbers: {valid}" if valid else "Nothing has been found yet.",
        )
    cited = provenance.find_citations(chunk.number, session.history)
    path = chunk.relative_path
    location = locate_chunk(chunk, note_text(session, path))
    name = StyledSpan(
        f"[{chunk.number}] {source_name(path, session.vault.link_name(path), chunk.heading)}",
        "bold",
    )
    yield StyledLine(
        (name,), (StyledSpan(f"{path}:{line_range(location.first, location.last)}", "cyan", path),)
    )
    if location.change:
        yield styled_line(location.change, "yellow", indent=0)
    yield styled_line()
    yield from chunk_lines(
        chunk, location.first, (citation for _, citation in cited), location.note
    )
    if chunk.text.endswith(CUT_MARK):
        yield styled_line("The excerpt was cut here to fit the context window.", "dim")
    yield styled_line()
    yield from citation_lines(cited, is_changed=bool(location.change))


@slash_command()
def ground(session: ZkChatSession, _: str) -> CommandResult:
    """Ask the last question again, with passages of your notes before it.

    For an answer without sources: zkchat searches the notes, and the model needs no tools. The
    previous answer stays: /branches goes back to it.
    """
    if session.runtime.model.name == "offline":
        raise UsageError(
            "the offline provider searches your notes for every answer",
            "Ask it differently, or choose a model: /model",
        )
    return CommandResult(turn=session.ask_again(find_question(session).message, retrieval="before"))


@slash_command()
def check(session: ZkChatSession, _: str) -> CommandResult | str:
    """Ask the model whether each cited sentence of the last answer is supported by its passage.

    One short call, which is not part of the conversation. Without a language model, zkchat compares
    words, numbers, names and negations, as it does after each answer; where these do not decide and
    the notes are searched by meaning, it compares the meaning.
    """
    last = last_answer(session)
    chunks = {
        citation.number: session.references.chunk(citation.number)
        for citation in last.answer.citations
    }
    passages = {number: chunk.text for number, chunk in chunks.items() if chunk}
    sentences = [
        each
        for each in cited_sentences(last.answer.content, last.answer.citations)
        if passages.keys() & set(each.numbers)
    ]
    if not sentences:
        return "No sentence of the last answer cites a passage."

    # As events: the screen shows delays, and Ctrl-C stops it
    def ask_model() -> Generator[Event, None, None]:
        checked, usage = yield from judge_by_model(session.runtime, sentences, passages)
        yield TextDelta(
            f"{_verdict_text(checked, len(sentences))} {session.runtime.model.name}: "
            f"{usage_text(usage)}."
        )

    if session.runtime.model.summarizes:
        return CommandResult(turn=ask_model())
    judged = [judge_unclear(each, passages, session.vault.similarities) for each in sentences]
    by_words = (
        "By words, numbers, names and negations; only a language model can check what they "
        "mean (/model)."
    )
    return f"{by_words}\n{_verdict_text(judged, len(sentences))}"


def _verdict_text(checked: Sequence[CitedSentence], count: int) -> str:
    """A line for each sentence that is not supported or unclear, and how many were checked."""
    doubtful = [each for each in checked if each.support in _MARKS]
    lines = [
        (
            f"- {_MARKS[each.support]} {each.text} "
            f"{list(each.numbers)}{each.reason and f': {each.reason}'}"
        )
        for each in doubtful
    ]
    refuted, unclear = (sum(each.support == support for each in checked) for support in _MARKS)
    counts = (
        f"{len(checked)} of {plural(count, 'cited sentence')} checked: {refuted} not "
        f"supported, {unclear} unclear."
    )
    return "\n".join([*lines, *(("",) if lines else ()), counts])


@slash_command()
def related(session: ZkChatSession, _: str) -> Lines:
    """List notes related to the last answer that it did not cite, and why.

    They are found by links, words and meaning, and are not sent to the model: name one as [[note]]
    to ask about it.
    """
    related = find_related(session.vault, last_answer(session))
    for note in related:
        path = note.chunk.relative_path
        yield StyledLine(
            (StyledSpan(session.vault.link_to(path), "bold"),), (StyledSpan(path, "cyan", path),)
        )
        yield styled_line(f"    {'; '.join(note.why)}", "dim", indent=4)
    if not related:
        yield styled_line("No other note is related to the last answer.")


@slash_command("NOTE", lambda session: [*provenance.trace_documents(session.history)])
def why(session: ZkChatSession, argument: str) -> Lines:
    """Show how a document came into the conversation.

    NOTE is a path, a title, a [[link]] or the number of a source. It says who named the document,
    which search found it, and whether the model sees it now.
    """
    chunk = numbered_chunk(session, argument)
    keys = provenance.matching_documents(argument, session.history)
    if chunk is None and len(keys) > 1:
        raise UsageError(
            f"{truncate(argument, 80)} matches {len(keys)} documents",
            f"Give a path: {', '.join(keys[:5])}",
        )
    key = chunk.relative_path if chunk else keys[0] if keys else session.vault.locate(argument)[0]
    document = provenance.trace_documents(session.history).get(key, provenance.Provenance(key))
    prompt = session.prompt()
    is_used = document.named or document.found or document.remembered
    if not is_used and not is_project_memory(key, prompt):
        raise UsageError(
            f"{key} is not part of this conversation", "/refs lists the documents that are."
        )
    is_deleted = document.has_path and not session.vault.has_file(key)
    yield from provenance_lines(document, prompt, is_deleted=is_deleted)


@slash_command("[NOTE | N]")
def open_(session: ZkChatSession, argument: str) -> CommandResult:
    """Open a note, or source N, in your editor.

    NOTE is a path, a title or a [[link]]. Uses the setting terminal.open_command (with {path} and
    {line}), else $VISUAL or $EDITOR, else Obsidian for a vault of Obsidian, else shows the note
    here.
    """
    last = provenance.last_exchange(session.history)
    citations = last.answer.citations if last else ()
    argument = argument or next((str(each.number) for each in citations if each.relative_path), "")
    if not argument:
        raise UsageError("which note?", "/open [[note]], a path or the number of a source.")
    if (chunk := numbered_chunk(session, argument)) is not None:
        cited = next(
            (
                each.start_line
                for each in citations
                if each.number == chunk.number and each.quote and each.start_line
            ),
            None,
        )
        path = chunk.relative_path
        moved_by = locate_chunk(chunk, note_text(session, path)).first - chunk.start_line
        line = moved_by + (cited or chunk.start_line)
    else:
        with_line = _WITH_LINE.fullmatch(argument)
        try:
            path, heading = session.vault.locate(with_line[1] if with_line else argument)
        except VaultError as e:
            if SOURCE_NUMBER.fullmatch(argument) is None:
                raise
            raise UsageError(
                f"unknown source {argument}",
                "/sources lists the sources of the last answer, /refs all documents.",
            ) from e
        line = (
            int(with_line[2])
            if with_line
            else session.vault.reader.section(path, heading)[0]
            if heading
            else 1
        )
    text = session.vault.reader.read(path)
    line = max(1, min(line, text.count("\n") + 1))
    return CommandResult(
        f"{truncate(path, 200)}:{line}", open_note=NoteToOpen(session.vault.root / path, line, text)
    )


@slash_command("WORDS")
def search(session: ZkChatSession, argument: str) -> Lines:
    """Search the notes; results are not sent to the model.

    "phrases", -words, tag:, path: and dates work as in `zkchat vault search`. To ask about a note,
    name it in a message as [[note]].
    """
    session.apply_scan(session.vault.refresh())
    results = session.vault.search(argument, MAX_RESULTS)
    yield from (
        styled_line(f"! {warning.message}", "yellow") for warning in session.vault.take_warnings()
    )
    yield from excerpt_lines(results, session.vault, argument)
    if not results:
        yield styled_line("Nothing found.")
