"""`md`: the current branch as a note: questions and answers, the sources as footnotes, the current
summary.

It is for reading, so it leaves out tool results and other branches; `json` has everything.
"""

from collections.abc import Sequence
from itertools import chain

from zkchat_cli.exporters import _notes, base
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.citations import Citation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.references.documents import link_names
from zkchat_cli.vault.links.wikilinks import write_link


def export(archive: ConversationArchive) -> str:
    """The note of a conversation."""
    messages = base.current_branch(archive)
    name = link_names(chain.from_iterable(message.references for message in messages))
    talk = archive.conversation
    fields = {
        "conversation": talk.id,
        "date": talk.created_at,
        "vault": talk.vault,
        "model": base.model_names(messages) or None,
    }
    parts = _notes.conversation_parts(archive, messages, name, _footnote_style(name))
    return _notes.join_parts([base.front_matter(fields), *parts])


def answer_note(
    question: str, answer: ZkChatMessage, conversation: str, name: _notes.LinkName
) -> str:
    """One answer as a note of its own. `name` returns the text of links to the note at a path: its
    name, or its path if that is ambiguous.
    """
    fields = {
        "question": question.strip(),
        "model": answer.model,
        "date": answer.timestamp,
        "conversation": conversation,
    }
    parts = _notes.answer_parts(answer, _footnote_style(name))
    return _notes.join_parts([base.front_matter(fields), *parts])


def _footnote_style(name: _notes.LinkName) -> _notes.FootnoteStyle:
    """Footnotes with the numbers of the answers, and wikilinks to their notes."""

    def write_source(citations: Sequence[Citation]) -> str:
        for citation in citations:
            path = citation.relative_path
            if path:
                link = write_link(path, name(path), citation.heading)
                outdated = f" ({citation.outdated})" if citation.outdated else ""
                return f"{link} {base.format_location(citation)}{outdated}"
        return f"*missing: {base.NO_SOURCE}*"

    return _notes.FootnoteStyle(lambda number, _: str(number), write_source)


EXPORTER = base.Exporter(suffix=".md", export=export)
