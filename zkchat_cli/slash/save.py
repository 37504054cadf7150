"""/save: save the last answer as a note; asks first (--yes: does not).

Without a path, the note is named after the question. Citations become links. Existing notes are never overwritten.
"""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from itertools import count

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations import marks
from zkchat_cli.exporters import base
from zkchat_cli.models import Citation, ZkChatMessage
from zkchat_cli.slash.base import CommandResult, YesNoQuestion, last_answer, slash_command
from zkchat_cli.text.numbers import line_range
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES, write_link

YES = "--yes"
MAX_QUESTION = 2000
MAX_NAME = 60  # characters, at most 240 bytes: file systems allow 255
_END = re.compile(r"[?!。？！\n]|\.\s")


@slash_command("[--yes] [path]")
def run(session: ZkChatSession, argument: str) -> CommandResult:
    words = argument.split(" ")
    confirmed = YES in (words[0], words[-1])
    requested = " ".join(words[1:] if words[0] == YES else words[:-1] if confirmed else words).strip()
    last = last_answer(session, "to save ")
    question = last.question.content if last.question else ""
    vault = session.vault
    path = replace_surrogates(requested)
    if not path or path.endswith("/"):  # a folder (`Answers/`): a name made from the question
        path += file_name(question, lambda name: os.path.lexists(vault.root / path / name))
    elif not path.lower().endswith(NOTE_SUFFIXES):
        path += ".md"
    change = vault.editor.create(path, note_text(question, last.answer, session.conversation.id, vault.link_name))
    [path] = change.paths
    [path] = change.paths

    def save() -> CommandResult:
        if (report := vault.editor.apply(change._replace(summary=f"save {path}"))) is not None:
            session.apply_scan(report)
        ignored = "" if path in vault.note_paths() else "; it is not indexed: vault.ignore excludes it"
        return CommandResult(f"Saved as {path}{ignored}")

    if confirmed:
        return save()
    return CommandResult(question=YesNoQuestion(f"Save the last answer as {path}?", save, f"/save {YES} {requested}".rstrip()))


def note_text(question: str, answer: ZkChatMessage, conversation: str, name: Callable[[str], str]) -> str:
    """The text of the note. `name` returns what a link calls the note at a path: its name, or its path if the name is ambiguous."""

    def link(citation: Citation) -> str:
        return write_link(path := citation.relative_path or "", name(path), citation.heading)

    fields = {"question": question.strip()[:MAX_QUESTION], "model": answer.model, "date": answer.timestamp, "conversation": conversation}
    front_matter = base.front_matter(fields).removesuffix("---") + "tags: []\n---"
    sources: dict[str, None] = {}
    for citation in answer.citations:
        if citation.relative_path is None:
            sources[f"- [{citation.number}] no such source *(not verified)*"] = None
            continue
        path = "`" + " ".join(citation.relative_path.replace("`", "'").split()) + "`"
        where = "" if citation.start_line is None else f":{line_range(citation.start_line, citation.end_line)}"
        quotation = f" “{' '.join(citation.quote.split())}”" if citation.quote else ""
        sources[f"- {link(citation)} {path}{where}{quotation}{base.quotation_doubt(citation)}"] = None
    source_list = "\n".join(["## Sources", "", *sources]) if sources else ""
    at: defaultdict[tuple[int, int] | int, list[Citation]] = defaultdict(list)
    for citation in answer.citations:
        at[citation.number].append(citation)
        for span in citation.spans:
            at[span].append(citation)
    parts: list[str] = []  # of the answer, with links instead of citation marks; unknown numbers stay
    for piece, mark in marks.split_at_marks(answer.content, marks.cited_marks(answer.content, answer.citations)):
        cited = (at.get(mark.span) or [c for number in mark.numbers for c in at[number]]) if mark else []
        if all(citation.relative_path is None for citation in cited):
            parts.append(piece)
            continue
        links = dict.fromkeys(f"[{c.number}]" if c.relative_path is None else link(c) for c in cited)
        if parts and parts[-1].endswith(("!", "[")):
            parts.append(" ")  # `![[…]]` would embed the note
        parts.append(", ".join(links))
    text = base.close_code_block("".join(parts)).strip("\n")
    return "\n\n".join(filter(None, (front_matter, text, source_list))) + "\n"


def file_name(question: str, exists: Callable[[str], bool]) -> str:
    """A file name from the question's first sentence, valid on every file system and not `exists`."""
    sentence = next(filter(str.strip, _END.split(question, 5)), "")
    allowed = "".join(c if c.isalnum() or unicodedata.category(c).startswith("M") or c in "-_'’" else " " for c in sentence)
    words = truncate(allowed, MAX_NAME).rstrip("…").strip(" -_'’")
    base = words[:1].upper() + words[1:] or "Answer"
    candidates = (f"{base}.md" if n == 1 else f"{base} {n}.md" for n in count(1))
    return next(candidate for candidate in candidates if not exists(candidate))
