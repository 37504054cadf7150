"""Pictures, drawings and other data in notes are an ellipsis for search, prompts and quotations."""

import base64
import random

import pytest
from notes_folder import NotesFolder

from zkchat_cli.llm.offline.asked_turn import read_excerpts
from zkchat_cli.llm.offline.quotes import find_quotes
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.embedded_data import hide_data

_RANDOM = random.Random(7)
PICTURE = base64.b64encode(_RANDOM.randbytes(3_000)).decode()
CERTIFICATE = [base64.b64encode(_RANDOM.randbytes(48)).decode() for _ in range(8)]
MINIFIED = "!function(e,t){var n=e.document;" + "function f(a){return a+1;}" * 30 + "}(window);"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Look: ![bed](data:image/png;base64,{PICTURE}) is dug.", "Look: ![bed](…) is dug."),
        (f'<img src="data:image/jpeg;base64,{PICTURE}" alt="b">', '<img src="…" alt="b">'),
        (f"[bed]: <data:image/png;base64,{PICTURE}>", "[bed]: <…>"),
        (f"url('data:image/svg+xml,{'%3Csvg%20r(360deg)' * 9}')", "url('…')"),
        (f"Key {PICTURE[:400]} of it", "Key … of it"),
        (f"Bytes: {'deadBEEF01' * 20}.", "Bytes: …."),
        ("\n".join(["-----BEGIN", *CERTIFICATE, "QUJj1A==", "-----END"]), None),
        (f"```js\n{MINIFIED}\n```", "```js\n…\n```"),
        (f"```compressed-json\n{CERTIFICATE[0]}\n\n{CERTIFICATE[1]}\n```\nEnd", None),
        ('```json\n{\n  "type": "excalidraw",\n  "elements": []\n}\n```', "```json\n…\n\n\n\n```"),
        ('```json !!!_START_OF_TLDRAW_DATA\n{"meta": "tldraw"}\n```', None),
    ],
)
def test_data_is_an_ellipsis_and_lines_stay_where_they_are(text: str, shown: str | None) -> None:
    found = hide_data(text)
    assert found.count("\n") == text.count("\n")
    assert CERTIFICATE[1] not in found
    assert "meta" not in found
    assert "…" in found
    if shown is not None:
        assert found == shown


@pytest.mark.parametrize(
    "text",
    [
        "sha512: " + "0a1b2c3d" * 16,
        "https://example.com/" + "a-long-name-of-a-page/" * 8 + "?q=1",
        "今天我们去公园散步,然后吃饭(很好)" * 40,
        "| " + " | ".join(["cell"] * 90) + " |",
        "|---" * 60,
        "[[Note]](x);" * 60,
        "Donaudampfschifffahrtsgesellschaft" * 4,
        "tags: " + ",".join(f"tag{number}" for number in range(200)),
        "$$" + r"\frac{a}{b}+\sum_{i=0}^{n}(x_i)=" * 20 + "$$",
        "A short example is data:text/plain,Hello and data:image/png;base64,abc",
        '```json\n{"name": "zkchat"}\n```',
        "<p>Allowed:</p><ul>" + "<li>Underscore (`_`)</li><li>Hyphen (`-`)</li>" * 20 + "</ul>",
        "word " * 300,
    ],
)
def test_what_people_write_stays(text: str) -> None:
    assert hide_data(text) == text


@pytest.fixture
def notes(tmp_path):
    made = NotesFolder(tmp_path)
    yield made
    made.vault.close()


def test_a_picture_costs_a_note_neither_chunks_nor_words(notes: NotesFolder) -> None:
    text = f"# Beds\n\n![bed](data:image/png;base64,{PICTURE})\n\nWater the tomatoes."
    notes.write("Beds.md", text)
    notes.vault.refresh()
    [chunk] = notes.vault.search("tomatoes")
    assert (chunk.text, chunk.end_line) == ("# Beds\n\n![bed](…)\n\nWater the tomatoes.", 5)
    assert notes.vault.reader.chunks("Beds.md")[0].text == chunk.text
    assert notes.vault.reader.read("Beds.md") == text
    assert notes.vault.search(f'"{PICTURE[:60]}"') == []


def test_lines_of_code_are_no_sentences_of_an_answer(notes: NotesFolder) -> None:
    lines = [f"total {number} is the sum of the harvest of bed {number}." for number in range(99)]
    text = ["# Sums", "", "```text", *lines, "```", "", "The harvest was good this year."]
    notes.write("Sums.md", "\n".join(text))
    notes.vault.refresh()
    found = notes.vault.search("sum of the harvest of bed 77")
    assert found[0].fence == "```text"
    assert found == [
        chunk.model_copy(update={"score": each.score, "score_words": each.score_words})
        for each in found
        for chunk in notes.vault.reader.chunks("Sums.md", each.start_line, each.end_line)
    ]
    numbered = tuple(c.model_copy(update={"number": n}) for n, c in enumerate(found, 1))
    result = PromptMessage(
        role="tool", content="", tokens=0, kind="tool_results", source_ids=(), chunks=numbered
    )
    quotes = find_quotes(read_excerpts([result]), ("english",))
    kinds = {quote.passage.kind for quote in quotes if "total" in quote.text}
    assert kinds == {"code"}
    inside = notes.vault.reader.chunks("Sums.md", 20, 21)
    assert [chunk.fence for chunk in inside] == ["```text"]
