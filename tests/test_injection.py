"""Documents that a message names: their text is in the prompt if it takes a small share of the
room, else the model may read them.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Program, write_notes
from factories import AppFixture, DeltaModel, make_app, reply, report_of, tool_reply
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli import events
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.references.injection import DocumentRoom, Injection, InjectionLimits, inject
from zkchat_cli.references.mentions import MentionedDocument

BIG = "# Big\n\nWhat it is about.\n\n" + "\n".join(
    (
        f"## Part {n}\n\n{'Turnips need rain.' if n == 7 else 'Nothing is said of it here.'} "
        f"{'filler ' * 200}\n"
    )
    for n in range(12)
)


@pytest.fixture
def app(vault: Path, tmp_path: Path) -> Iterator[AppFixture]:
    write_notes(
        vault,
        {
            "Big.md": BIG,
            "Hub.md": "[[Filters]] [[Combining]] [[Big]]",
            "Empty.md": "",
            "list.txt": "a, b",
        },
    )
    (vault / "pic.png").write_bytes(b"\x89PNG\0")
    with closing(make_app(vault, tmp_path / "cache", max_context=8000)) as made:
        yield made


def deltas() -> DeltaModel:
    return DeltaModel([reply("Fine.")])


def documents(session: ZkChatSession, text: str) -> PromptMessage:
    return next(m for m in session.prompt(text).messages if m.kind == "documents")


def excerpts_in(message: PromptMessage) -> list[dict[str, object]]:
    excerpts: list[dict[str, object]] = json.loads(message.content.rpartition("\n")[2])["excerpts"]
    return excerpts


# in the prompt


def test_a_short_note_is_injected_as_numbered_excerpts(app: AppFixture) -> None:
    message = documents(app.session(), "What does [[Combining]] say?")
    excerpts = excerpts_in(message)
    assert [e["source"] for e in excerpts] == [1]
    assert excerpts[0]["text"] == app.vault.reader.chunks("Queries/Combining.md")[0].text
    assert "- [[Combining]] (Queries/Combining.md)" in message.content
    assert "[its text: source 1]" in message.content
    assert "read_zk_document" not in message.content


def test_only_the_named_section_is_injected(app: AppFixture) -> None:
    [excerpt] = excerpts_in(documents(app.session(), "[[Big#Part 7]]?"))
    assert str(excerpt["text"]).startswith("## Part 7")


def test_a_missing_section_warns_and_the_whole_note_is_injected(app: AppFixture) -> None:
    session = app.session(deltas())
    told = [e for e in session.send("[[Combining#Nowhere]]?") if isinstance(e, events.Notice)]
    assert "has no heading Nowhere" in told[0].message
    assert session.history[0].references[0].delivery == "injected"


# a share of what is left


def test_relevant_sections_of_a_long_note_are_injected(app: AppFixture) -> None:
    message = documents(app.session(), "What do turnips need? [[Big]]")
    assert "Part 7" in [e["heading"] for e in excerpts_in(message)]
    assert "Part 3" not in [e["heading"] for e in excerpts_in(message)]
    assert "headings: " in message.content
    assert "Part 3" in message.content.partition("headings: ")[2]
    assert "Read what is not below with the read_zk_document tool" in message.content


def test_a_long_note_without_relevant_sections_is_only_described(app: AppFixture) -> None:
    message = documents(app.session(), "[[Big]]")
    assert "Excerpts" not in message.content
    assert "[headings: Big; Part 0; Part 1;" in message.content
    assert "Read them with the read_zk_document tool" in message.content
    assert message.source_ids == ("Big.md",)


def test_the_decision_and_its_reason_are_stored_with_the_message(app: AppFixture) -> None:
    session = app.session(deltas())
    report_of(session.send("[[Combining]] and [[Big]], [[pic.png]], [[Empty]], [[Nope]]"))
    kept = {
        r.wikilink: (r.delivery, r.delivery_reason)
        for r in app.reopen(session).history[0].references
    }
    assert kept["[[Combining]]"][0] == "injected"
    assert " left for messages" in str(kept["[[Combining]]"][1])
    assert kept["[[Big]]"][0] == "offered"
    assert "all of it takes" in str(kept["[[Big]]"][1])
    assert kept["[[pic.png]]"] == ("offered", "it has no text to put into a prompt")
    assert kept["[[Nope]]"] == (None, None)
    prompt = app.reopen(session).prompt()
    assert {r.wikilink: r.delivery for r in prompt.documents}["[[Big]]"] == "offered"


def test_in_a_full_window_documents_are_only_described(app: AppFixture) -> None:
    app.max_context = 1200
    assert [
        r.delivery for r in app.session(tools=()).prompt("[[Filters]] " + "word " * 800).documents
    ] == ["offered"]


# numbers


def test_documents_and_tools_share_one_numbering(app: AppFixture) -> None:
    look = ToolCall(id="c", name="find_excerpts", arguments={"query": "compost heap"})
    session = app.session(DeltaModel([tool_reply(look), reply("So it is [1] [2].")]))
    report_of(session.send("[[Combining]] and compost?"))
    numbers = [c.number for m in session.history for c in m.chunks]
    assert numbers == list(range(1, len(numbers) + 1))
    resumed = app.reopen(session, deltas())
    report_of(resumed.send("[[Combining]] again, and [[Limiting]]"))
    assert [c.number for c in resumed.history[-2].chunks] == [1, len(numbers) + 1]
    assert [r.numbers for r in resumed.history[-2].references] == [(1,), (len(numbers) + 1,)]


def test_a_preview_of_the_next_prompt_uses_no_numbers(app: AppFixture) -> None:
    session = app.session(deltas())
    session.prompt("[[Limiting]]")
    report_of(session.send("[[Combining]]"))
    assert [c.number for c in session.history[0].chunks] == [1]
    shown = app.reopen(session).prompt("[[Limiting]]")
    assert '"source": 2' in next(
        m.content for m in reversed(shown.messages) if m.kind == "documents"
    )


# imported files


def test_an_imported_file_takes_up_to_half_of_the_budget(app: AppFixture, tmp_path: Path) -> None:
    folder = write_notes(
        tmp_path / "code",
        {"main.py": "\n\n".join(f"line {n}: {'word ' * 60}" for n in range(60)), "none.txt": ""},
    )
    session = app.session(deltas(), working_folder=folder)
    told = [
        f"{e.message}; {e.hint}"
        for e in session.send("what does @main.py do?")
        if isinstance(e, events.Notice)
    ]
    assert " tokens of @main.py went to the model: lines 1 to " in told[0]
    assert told[0].endswith(" of 119; name a smaller file, or raise context.max_tokens")
    [reference] = session.history[0].references
    assert (reference.delivery, reference.reference_type) == ("partly", "import")
    told = [e.message for e in session.send("and @none.txt?") if isinstance(e, events.Notice)]
    assert told == ["@none.txt is empty"]


# the rule by itself


def make_piece(n: int, size: int, heading: str | None = None, text: str = "") -> ContentChunk:
    body = text or "w " * size
    return ContentChunk(
        id=f"c{n}",
        relative_path="N.md",
        title="N",
        heading=heading,
        start_line=n,
        end_line=n,
        text=body,
    )


def inject_note(
    text: tuple[ContentChunk, ...],
    left: int,
    ratio: float = 0.2,
    message: str = "w?",
    again: int = 1,
) -> Injection:
    reference = DocumentReference(wikilink="[[N]]", relative_path="N.md", reference_type="direct")
    sections = [
        MentionedDocument(reference.model_copy(update={"heading": str(i) if i else None}), text)
        for i in range(again)
    ]
    limits = InjectionLimits(
        DocumentRoom(left, left),
        ratio,
        has_tools=True,
        count=len,
        cost=lambda chunk: len(chunk.text) // 2,
    )
    return inject(sections, message, limits)


@given(st.lists(st.integers(1, 300), max_size=12), st.integers(0, 5000), st.floats(0, 1))
def test_a_document_never_takes_more_than_its_share(
    sizes: list[int], left: int, ratio: float
) -> None:
    text = tuple(make_piece(i, size, f"h{i % 3}") for i, size in enumerate(sizes))
    taken = inject_note(text, left, ratio).chunks
    assert sum(len(c.text) // 2 for c in taken) <= ratio * left
    assert [c.id for c in taken] == [c.id for c in text if c in taken]


def test_a_repeated_chunk_costs_nothing() -> None:
    text = (make_piece(1, 60),)
    (first, _), (second, _) = inject_note(text, 350, again=2).documents
    assert (first.delivery, second.delivery) == ("injected", "injected")
    assert str(second.delivery_reason).startswith("0 tokens")


def test_a_note_named_again_is_sent_again_with_the_same_number(app: AppFixture) -> None:
    session = app.session(deltas())
    for question in ("[[Combining]]?", "What of [[Combining]]?"):
        report_of(session.send(question))
    first, second = (message for message in session.history if message.role == "user")
    assert (
        [chunk.number for chunk in second.chunks] == [chunk.number for chunk in first.chunks] == [1]
    )


# on the command line


def test_context_commands_show_the_decisions(zkchat: Program) -> None:
    zkchat("ask", "How do conditions nest in [[Combining]]?")
    stats = zkchat("context", "stats").out
    assert "Documents:\n  full text   [[Combining]]  Queries/Combining.md: " in stats
    shown = zkchat("context", "show", "--next", "[[Limiting]]", "--max-context", 1050).out
    assert "  summary     [[Limiting]]  Queries/Limiting.md: all of it takes " in shown
    [first, second] = zkchat("context", "show", "--next", "[[Limiting]]", "--json").json[
        "documents"
    ]
    assert (first["relative_path"], first["delivery"], second["delivery"]) == (
        "Queries/Combining.md",
        "injected",
        "injected",
    )


def test_imports_in_piped_text_are_ignored(zkchat: Program, vault: Path) -> None:
    write_notes(vault, {"data.txt": "The price is 12.", "log.txt": "commit"})
    report = zkchat(
        "ask", "what is the price? @data.txt", "--json", stdin="by @log.txt", cwd=vault
    ).json
    assert [
        r["relative_path"] for r in report["references"] if r["reference_type"] == "import"
    ] == ["data.txt"]
    assert "“The price is 12.” [1]" in report["answer"]
    assert "@log.txt" not in str(report["references"])
