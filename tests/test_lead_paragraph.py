"""The first paragraph of a note, and the most telling part of one without a paragraph."""

import pytest
from factories import takes_less_than

from zkchat_cli.references.document_summaries import summarize_document

REAL = "A filter says which tasks are shown."


@pytest.mark.parametrize(
    "before",
    [
        "# Title\n",
        "Title\n=====\n",
        "Title\n---\n",
        "#tag #other\n",
        '<span class="related">#feature/filters</span>\n',
        "- [[Only]]\n- [links](x)\n",
        "- an item\n- another\n  going on\n",
        "1. an item\n\n   with a second paragraph.\n",
        "> A quotation, of course.\n",
        "> [!released]\nIntroduced in version 1.2, as a lazy line.\n",
        "> [!note] A callout with a title\n>\n> and words.\n",
        "Note: this page moves soon to another place.\n",
        "```\n~~~\nThis is code, not prose.\n```\n",
        "~~~\nThis is code, not prose.\n~~~\n",
        "- ```\n  This is code, not prose.\n  ```\n",
        "> ```\n> This is code in a quotation.\n",
        "    This is indented code, it is.\n    More of it.\n",
        "$$\nx = y\nz\n$$\n",
        "| a table | has cells |\n|---|---|\n| This is | one of them. |\n",
        "a table | without bars\n--- | ---\nThis is | one of them.\n",
        "![A picture of it](a.png)\n",
        "[![Build](https://x/badge.svg)](https://x) [![Docs](y)](z)\n",
        "![[Embedded note]]\n",
        "<!-- This is a comment,\n\nwith two paragraphs. -->\n",
        "%% This is a comment. %%\n",
        "<% tp.file.title %> <%* if (true) {\n%>\n",
        "<style>\n.a { color: red; }\n</style>\n",
        "up:: [[Home]]\nx:: a property in the text\n",
        "**Author:** Jane Doe, of the university\nTags: one, two\nDate: 2024-05-01\n",
        "原文：[A page](https://x.y)\n",
        "2024-05-01 10:20\n",
        "Wednesday, March 5, 2024\n",
        "← [[Index]] | [[Next]] →\n",
        "Back to [[Home|the index]].\n",
        "See also [[Other]] and [[Another]].\n",
        "https://example.org/a/b\n",
        "{{title}}\n",
        "Comment:\n",
        "Comment\n",
        "***\n",
        "[^1]: A footnote that says much.\n",
        "[ref]: https://x.y\n",
        "==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu. ⚠==\n",
        "#\n",
        "…\n",
    ],
)
def test_blocks_without_content_are_skipped(before: str) -> None:
    assert summarize_document(f"{before}\n{REAL}\n\nMore of it.") == REAL


@pytest.mark.parametrize(
    ("text", "paragraph"),
    [
        ("Prose that\ngoes on.", "Prose that goes on."),
        ("Prose **over\nlines** ends here.", "Prose over lines ends here."),
        ("#tag with words", "#tag with words"),
        (
            "Tags at the end of a sentence are left out. #todo #later",
            "Tags at the end of a sentence are left out.",
        ),
        ("5 < 6 and 7 > 2.", "5 < 6 and 7 > 2."),
        ("To be or not to be.", "To be or not to be."),
        (
            "A few words\n\nThen a paragraph that says something",
            "Then a paragraph that says something",
        ),
        ("A few words\n\nA few more", "A few words"),
        ("Summary: What it is about.\n\nProse, at length, which follows it.", "What it is about."),
        ("> - 简介：一本关于笔记的书。", "一本关于笔记的书。"),
        ("薅羊毛与羊毛出在羊身上的理解", "薅羊毛与羊毛出在羊身上的理解"),
        (
            "Some of the instructions execute code:\n\n```\nx\n```\n\nMore prose follows it.",
            "Some of the instructions execute code",
        ),
        ("Some of the instructions execute code:", "Some of the instructions execute code"),
        ("Text <!-- hidden --> goes on `<!--` here.", "Text goes on <!-- here."),
        ("Text <!-- never closed goes on here.", "Text <!-- never closed goes on here."),
        ("Text with `a tick <!-- hidden --> goes on.", "Text with `a tick goes on."),
        ("<!-- never closed\n\nProse that is hidden.", None),
        ("<% never closed, but a sentence.", "<% never closed, but a sentence."),
        ("| \\| | b |\n\nText after it.", "Text after it."),
        ("| a | b |\nThis is no row any more.", "This is no row any more."),
        ("    code\nThis is no code any more.", "This is no code any more."),
        ("Label:\n", None),
        ("", None),
        ("\n\n\n", None),
    ],
)
def test_first_paragraph(text: str, paragraph: str | None) -> None:
    assert summarize_document(text) == paragraph


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- one\n- two\n- [[three]]", "one; two"),
        ("1. [ ] a task\n2. [x] done", "[ ] a task; [x] done"),
        (
            "> A quotation that says something about it.",
            "A quotation that says something about it.",
        ),
        ("# First part\n## Second part\n## Comment:", "First part · Second part"),
        ("# Title", None),
        ("| a | b |\n|---|---|\n| c | d |", "a · b; c · d"),
        ("```js\n// dv.list(tags)\n```", "dv.list(tags)"),
        ("> [!info] A callout", "A callout"),
        ("2024-05-01", None),
        ("- 2024-05-01\n- Comment:", None),
        ("![[image.png]]", None),
        ("#tag #other", None),
        ("", None),
    ],
)
def test_the_most_telling_words_of_a_note_without_a_paragraph(text: str, words: str | None) -> None:
    assert summarize_document(text, "title") == words


HOSTILE = [
    *(
        "[",
        "[[",
        "](",
        "<",
        "<!--",
        "<!-- a\n",
        "%%",
        "<%",
        "*",
        "_",
        "> ",
        "- ",
        "`",
        "` ``",
        "|",
        "\n| a",
        "[[a|",
        "$",
        "\n$$\n",
        "\\",
    ),
    *(
        "\n- ",
        "\n> ",
        "\n> [!a] ",
        "\n```\n",
        "# ",
        "\n#",
        "=",
        "\n===\n",
        "a::",
        "\na: b",
        "{{",
        "#a ",
        "a b ",
        "。",
        "\u0301",
        "x:\n",
    ),
    *("\n    ", "http://x "),
]


@pytest.mark.untraced
@pytest.mark.parametrize("piece", HOSTILE)
def test_endless_repetition_takes_linear_time(piece: str) -> None:
    text = "Words:\n\n" + piece * ((1 << 16) // len(piece))
    with takes_less_than(10):  # what is quadratic takes an hour
        summarize_document(text, "Title")
