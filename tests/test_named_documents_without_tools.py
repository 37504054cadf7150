"""Documents that a message names reach a model that has no tools to read them: whole if they fit,
else the part that fits, with a warning that says how much that is.
"""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, ProgramResult, write_notes
from factories import AppFixture, DeltaModel, exchanges, reply, report_of, resume
from hypothesis import given
from hypothesis import strategies as st
from model_server import ModelServer, Reply, openai_error, openai_text

from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.references.excerpts import chunk_tokens
from zkchat_cli.references.injection import DocumentRoom, Injection, InjectionLimits, inject
from zkchat_cli.references.mentions import MentionedDocument

WARNING = re.compile(r"only ([\d,]+) of ([\d,]+) tokens of (\S+) went to the model: lines 1 to \d+")


def make_note(name: str, parts: int) -> str:
    """A note of about 65 tokens for each part; part 7 is about turnips."""
    sections = [
        f"## {name} {n}\n\n{'Turnips' if n == 7 else 'Beans'} of {name} {n} need rain. "
        + "word " * 50
        for n in range(parts)
    ]
    return f"# {name}\n\nThe beginning of {name}.\n\n" + "\n\n".join(sections) + "\n"


@pytest.fixture
def zkchat(zkchat: Program, vault: Path, server: ModelServer) -> Program:
    """The program with a model that gets no tools, because its window is small."""
    write_notes(
        vault,
        {
            "Mid.md": make_note("Mid", 28),
            "Other.md": make_note("Other", 28),
            "Long.md": make_note("Long", 200),
            "one-paragraph.txt": " ".join(f"Day {n}: {n * 7} mm of rain." for n in range(3000)),
        },
    )
    server.says(Reply(openai_text("Fine.")))
    zkchat.env = {"OPENAI_BASE_URL": f"{server.address}/v1", "OPENAI_API_KEY": "k"}
    return zkchat


def ask(zkchat: Program, question: str, *more: object, window: int = 6000) -> ProgramResult:
    done = zkchat("ask", "-m", "openai/m", "--max-context", window, *more, question)
    assert done.exit_status == 0, done.err
    return done


def sent_text(server: ModelServer) -> str:
    body: dict[str, Any] = server.bodies[-1]
    assert "tools" not in body
    return "\n".join(message["content"] for message in body["messages"])


def test_a_note_that_fits_is_sent_whole_without_a_warning(
    zkchat: Program, server: ModelServer
) -> None:
    done = ask(zkchat, "Summarise [[Mid]]", "--json")
    text = sent_text(server)
    assert all(f"of Mid {n} need rain" in text for n in range(28))
    assert done.json["warnings"] == []
    assert done.json["references"][0]["delivery"] == "injected"


def test_of_a_longer_note_the_beginning_is_sent_and_a_warning_says_how_much(
    zkchat: Program, server: ModelServer
) -> None:
    done = ask(zkchat, "Summarise [[Long]]", "--json")
    found = WARNING.search(done.err)
    assert found
    sent, total = (int(number.replace(",", "")) for number in found.groups()[:2])
    assert 3000 < sent < total
    text = sent_text(server)
    assert "The beginning of Long." in text
    assert "of Long 30 need rain" in text
    assert "of Long 199 need rain" not in text
    [warning] = done.json["warnings"]
    assert warning["message"] in done.err
    assert warning["hint"].startswith("name a section of it")
    assert done.json["references"][0]["delivery"] == "partly"
    usage = done.json["context"]
    assert usage["total_tokens"] <= usage["effective_limit"]


def test_the_sections_that_the_question_is_about_come_before_the_beginning(
    zkchat: Program, server: ModelServer
) -> None:
    ask(zkchat, "What do turnips of [[Long]] need?", window=1400)
    text = sent_text(server)
    assert "Turnips of Long 7 need rain" in text
    assert "of Long 12 need rain" not in text


def test_a_text_of_one_paragraph_is_cut_within_it(zkchat: Program, server: ModelServer) -> None:
    done = ask(zkchat, "Summarise @one-paragraph.txt")
    assert "of @one-paragraph.txt went to the model" in done.err
    assert "name a smaller file" in done.err
    assert sent_text(server).count(" mm of rain.") > 250


def test_several_notes_share_the_room_evenly(zkchat: Program, server: ModelServer) -> None:
    done = ask(zkchat, "Compare [[Long]], [[Mid]] and @Other.md", window=5000)
    shares = [int(found[0].replace(",", "")) for found in WARNING.findall(done.err)]
    assert len(shares) == 3
    # Headings of what is left out take some of the first share
    assert max(shares) - min(shares) < 250
    text = sent_text(server)
    assert all(f"The beginning of {name}." in text for name in ("Long", "Mid", "Other"))


def test_a_short_note_is_sent_whole_beside_a_long_one(zkchat: Program, server: ModelServer) -> None:
    done = ask(zkchat, "Compare [[Long]] with [[Combining]]", "--json")
    delivered = {each["wikilink"]: each["delivery"] for each in done.json["references"]}
    assert delivered["[[Combining]]"] == "injected"
    assert delivered["[[Long]]"] == "partly"
    assert len(done.json["warnings"]) == 1


def test_a_note_is_sent_after_the_server_has_refused_tools(
    zkchat: Program, server: ModelServer
) -> None:
    server.says(openai_error(400, "m does not support tools"), Reply(openai_text("Fine.")))
    done = ask(zkchat, "Summarise [[Mid]] and [[Long]]", "--json", window=20_000)
    assert "tools" in server.bodies[0]
    text = sent_text(server)
    assert all(f"of Mid {n} need rain" in text for n in range(28))
    assert "of Long 60 need rain" in text
    assert any("of [[Long]] went to the model" in each["message"] for each in done.json["warnings"])


def test_a_model_with_tools_still_gets_a_share_and_reads_the_rest(
    zkchat: Program, server: ModelServer
) -> None:
    done = zkchat("ask", "-m", "openai/m", "--max-context", 20_000, "Summarise [[Long]]", "--json")
    assert done.json["references"][0]["delivery"] in ("offered", None)
    assert done.json["warnings"] == []
    assert "Read them with the read_zk_document tool" in str(server.bodies[-1]["messages"])


def test_the_context_says_what_of_a_note_is_in_the_prompt(zkchat: Program) -> None:
    ask(zkchat, "Summarise [[Long]]")
    shown = zkchat("context", "show", "-m", "openai/m", "--max-context", 6000).out
    assert "  sections    [[Long]]  Long.md: all of it takes " in shown


def test_in_a_chat_the_warning_is_shown_too(zkchat: Program) -> None:
    shown = zkchat("chat", "-m", "openai/m", "--max-context", 6000, stdin="Summarise [[Long]]\n")
    assert WARNING.search(shown.out + shown.err)


def test_a_named_note_is_sent_in_a_conversation_that_fills_the_window(app: AppFixture) -> None:
    (app.vault.root / "Mid.md").write_text(make_note("Mid", 28), "utf-8")
    app.vault.refresh()
    long = exchanges(*((f"Question {n}? " + "rain " * 60, "beans " * 120) for n in range(20)))
    model = DeltaModel([reply("Fine.")])
    session = resume(app, long, model=model, max_context=6000, retrieval="before")
    report = report_of(session.send("Summarise [[Mid]]"))
    [documents] = [each for each in model.requests[-1].messages if each.kind == "documents"]
    assert "of Mid 12 need rain" in documents.content
    assert report.context.total_tokens <= report.context.effective_limit


@pytest.mark.parametrize(("window", "links"), [(1000, 1), (1500, 4), (3000, 30), (8000, 30)])
def test_the_limit_holds_for_any_window_and_number_of_notes(
    app: AppFixture, window: int, links: int
) -> None:
    notes = {f"Note {n}.md": make_note(f"Note {n}", 40) for n in range(links)}
    write_notes(app.vault.root, notes)
    app.vault.refresh()
    named = " ".join(f"[[Note {n}]]" for n in range(links))
    model = DeltaModel([reply("Fine.")])
    session = app.session(model, max_context=window, retrieval="before")
    *_, last = session.send(f"Compare {named}")
    for request in model.requests:
        total = sum(each.tokens for each in request.messages)
        assert total <= window * 0.9
        assert sent_documents(request.messages).count("The beginning of") >= 1
    # 30 names alone do not fit into the smallest windows
    assert model.requests or (links == 30 and window < 3000), last


def sent_documents(messages: tuple[PromptMessage, ...]) -> str:
    return next(each.content for each in messages if each.kind == "documents")


# the rule by itself


def count(text: str) -> int:
    return len(text) // 4


def make_chunks(name: str, sizes: list[int]) -> tuple[ContentChunk, ...]:
    chunks: list[ContentChunk] = []
    for n, size in enumerate(sizes):
        chunk = ContentChunk(
            id=f"{name}{n}",
            relative_path=f"{name}.md",
            title=name,
            start_line=n + 1,
            end_line=n + 1,
            text="w " * size,
        )
        chunks.append(chunk)
    return tuple(chunks)


def inject_notes(notes: list[list[int]], room: int) -> Injection:
    mentions = []
    for n, sizes in enumerate(notes):
        reference = DocumentReference(
            wikilink=f"[[N{n}]]", relative_path=f"N{n}.md", reference_type="direct"
        )
        mentions.append(MentionedDocument(reference, make_chunks(f"N{n}", sizes)))

    def cost(chunk: ContentChunk) -> int:
        return chunk_tokens(chunk, count)

    limits = InjectionLimits(
        DocumentRoom(room, 0), ratio=0.2, has_tools=False, count=count, cost=cost
    )
    return inject(mentions, "w?", limits)


NOTES = st.lists(st.lists(st.integers(1, 600), min_size=1, max_size=6), min_size=1, max_size=5)


@given(NOTES, st.integers(0, 5000))
def test_all_documents_together_never_take_more_than_the_room(
    notes: list[list[int]], room: int
) -> None:
    chunks = inject_notes(notes, room).chunks
    assert sum(chunk_tokens(chunk, count) for chunk in chunks) <= room


@given(NOTES, st.integers(1500, 5000))
def test_each_document_that_is_not_whole_has_its_warning(notes: list[list[int]], room: int) -> None:
    injected = inject_notes(notes, room)
    cut = [each for each, _ in injected.documents if each.delivery != "injected"]
    assert len(injected.warnings) == len(cut)
    for reference, warning in zip(cut, injected.warnings, strict=True):
        assert reference.wikilink in warning.message


@given(st.lists(st.integers(200, 600), min_size=30, max_size=30), st.integers(2000, 5000))
def test_notes_that_are_cut_get_equal_shares(sizes: list[int], room: int) -> None:
    injected = inject_notes([sizes, sizes, sizes], room)
    taken = [0, 0, 0]
    for chunk in injected.chunks:
        taken[int(chunk.relative_path[1])] += chunk_tokens(chunk, count)
    assert all(abs(one - other) < 160 for one, other in pairwise(taken)), json.dumps(taken)
