"""Markdown as one reads it."""

import pytest
from factories import takes_less_than

from zkchat_cli.markdown.plain_text import to_plain_text


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        (
            "*a* **line** with ~~no~~ ==marks== and _this_, __that__",
            "a line with no marks and this, that",
        ),
        ("2 * 3 and 5*3, snake_case, a == b, a==b", "2 * 3 and 5*3, snake_case, a == b, a==b"),
        ("中文==高亮==中文**粗体**字", "中文高亮中文粗体字"),
        (
            "the `[[not]] *a* link`, ``with ` tick`` and `open",
            "the [[not]] *a* link, with ` tick and `open",
        ),
        (
            "[[Filters]], [[Folder/Note]], [[Note#Part]], [[#Here]], [[Note#^id]]",
            "Filters, Note, Note › Part, Here, Note",
        ),
        ("[[Note|a name]], [[Note\\|in a table]]", "a name, in a table"),
        (
            "[the page](https://x.y/z_(w)), [named][ref], <https://x.y>",
            "the page, named, https://x.y",
        ),
        ("![[picture.png]] ![alt](a.png) ![alt][ref] [![badge](b)](c) end", "end"),
        ("<b>bold</b>, one<br>two, <span class='x'>in</span>side", "bold, one two, inside"),
        ("5 < 6 and 7 > 2", "5 < 6 and 7 > 2"),
        ("so[^1] it is^[as [[A]] says].", "so it is."),
        ("a block ^my-id", "a block"),
        ("x^2", "x^2"),
        (
            "the sum $a_1 * b_2$ and $$c_3 * d$$, for $5 or $6",
            "the sum $a_1 * b_2$ and $$c_3 * d$$, for $5 or $6",
        ),
        (r"\*not\* \[\[this\]\]", "*not* [[this]]"),
        ("&ndash; &lt;b&gt; &#8364; &#x20AC; &nonsense; &#27;[2J", "– <b> € € &nonsense; [2J"),
        ("a\x1b[31m\x00b\nc\td", "a [31m b c d"),
        ("& [ ] ( < > | ` * _ ", "& [ ] ( < > | ` * _"),
    ],
)
def test_what_is_read(markdown: str, words: str) -> None:
    assert to_plain_text(markdown) == words


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "[[",
        "[[a|",
        "![[",
        "](",
        "[a](",
        "[a](b(",
        "^[",
        "[^",
        "<",
        "<a ",
        "*",
        "_",
        "`",
        "` ``",
        "$",
        "\\",
        "&#",
        " ^a",
    ],
)
def test_a_heap_of_marks_is_read_at_once(piece: str) -> None:
    with takes_less_than(5):  # what is quadratic takes an hour
        to_plain_text("word " + piece * ((1 << 18) // len(piece)))
