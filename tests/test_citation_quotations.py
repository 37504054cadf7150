"""When a quotation is what the note says: whole words and numbers, in order, and no sentence cut so
that it says something else.
"""

import random
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from factories import chunk
from hypothesis import given
from hypothesis import strategies as st

import zkchat_cli
from zkchat_cli.citations.quotes import QuotableChunk, find_quotation
from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.verify import verify_citations
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.text.case_folder import fold

HOUSE = """# House
The house was painted red in 1950 and cost 14,200 euros. It used 5,100 kWh a year.
The bridge is unsafe to walk on. The pump needs 2.4 kW at −5 °C, or 3 mW when idle, in ~5 hours.
There are 10² ways, 2*3 of them in my_list, and 1½ cups for 2 * 4 people.
The lease is from 2024-05-01, 3–5 days, for $800.
The ice is not safe to walk on. Only admins can delete the notes. The lid opens unless it is locked.
If it rains, the pump stops at once. I do not like it, but the door was painted blue.
A non-toxic glue was used.
He never said that the roof leaks when it snows. Since nobody came, the fence was sold in May.
The gate, which was not new, was moved to the left. The fee is 1 000 euros; the tax is 12 million.
Walking on the lake is never allowed. We had no beer, wine or water in the house.
Deliver it on Monday only if asked.
The file `notes.txt` was written in
1950. Then came C3-type filters, twenty-five of them.

## Garden
The trees are pruned in March. Das Wasser ist im Winter nicht warm.
Wir trinken kein Wasser aus dem Brunnen.
A <b>bold</b> word, 10<sup>3</sup> &ndash; see <https://example.org>; the `<p>` tag and <date> too.
不可以在冰上行走。如果下雨，水泵就停。サーバーをアンインストールする。
图片在**100 KB**至**500 KB**之间。The letters have*umami*and taste.
- [ ] paint [[the gate]]
- [x] oil the hinges
"""
TRUE = """\
The house was painted red in 1950|painted red in 1950 and cost 14,200 euros
cost 14,200 euros|used 5,100 kWh
The bridge is unsafe to walk on|needs 2.4 kW at -5 °C|needs 2.4 kW at −5 °C
3 mW when idle|There are 10² ways
There are 10^2 ways|2*3 of them in my_list|1½ cups for 2 * 4 people
from 2024-05-01, 3-5 days|for $800
The ice is not safe to walk on|not safe to walk on|Only admins can delete the notes
unless it is locked
If it rains, the pump stops at once|the door was painted blue|I do not like it
A non-toxic glue was used
never said that the roof leaks|The gate, which was not new, was moved
was moved to the left|the fence was sold in May
the tax is 12 million|The fee is 1\u00a0000 euros|in ~5 hours|never allowed
no beer, wine or water in the house|only if asked
file notes.txt was written in 1950|twenty-five of them|The trees are pruned in March
The house … cost 14,200 euros
Wir trinken kein Wasser|不可以在冰上行走|如果下雨，水泵就停|アンインストールする
A bold word, 10^3 – see https://example.org|the <p> tag and <date> too
图片在100 KB至500 KB之间|haveumamiand taste|have*umami*and taste|- [ ] paint the gate
[x] oil the hinges
[ ] paint the gate • [x] oil the hinges|paint the gate • oil the hinges"""
CUT = """\
safe to walk on|The ice is|admins can delete the notes|The lid opens
the pump stops at once|it rains|toxic glue was used
the roof leaks when it snows|like it|Walking on the lake is
beer, wine or water in the house|wine or water in the house
Deliver it on Monday|Das Wasser ist im Winter|Wasser aus dem Brunnen|水泵就停|在冰上行走。如果下雨
The ice … safe to walk on
The lid opens … it is locked"""
FALSE = """\
house was painted red in 1950 and cost 14|200 euros. It used|used 5,100 kW|used 5,100
100 kWh a year|4 kW at −5 °C
2.4 kW at −5|5 °C, or 3|needs 2.4 kW at 5 °C|3 MW when idle|There are 102 ways|in 5 hours
0² ways|23 of them
3 of them in mylist|list, and 1|and 11⁄2 cups|2 4 people|05-01, 3–5 days|5 days, for
for $8|for 800|the tax is 12
000 euros; the tax|The fee is 1|was written in Then came|five of them|otes.txt was
painted red in 1905|painted blue in 1950
cost 14,200 dollars|14,200 euros cost|used 5,100 kWh … painted red
The house … are pruned in March|unsafe to walk
Only admins can edit the notes|インストールする|冰上不行走|bold word, 103|the tag and|tag and too
在100 kb至|umami and taste|- [x] paint the gate|[x] paint the gate|- [ ] oil the hinges
[ ] paint the gate • [ ] oil the hinges"""
MARKS = {"verified": TRUE, "cut": CUT, "not": FALSE}


@pytest.mark.parametrize(
    ("verdict", "quote"),
    [(verdict, quote) for verdict, quotes in MARKS.items() for quote in re.split(r"[|\n]", quotes)],
)
def test_what_is_verified_is_what_the_note_says(verdict: str, quote: str) -> None:
    place = QuotableChunk(chunk(1, HOUSE)).locate(quote)
    assert (place.verdict if place else "not") == (
        verdict if quote != "unsafe to walk" else "verified"
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("The tap %%ask\nOla%% drips at night.", "The tap drips at night."),
        ("The tap<!-- ask --> drips^[since [[May]]] at night.", "The tap drips at night."),
        ("Turn ![[knob.png|200]] the ![k](k.png) knob ![k][k] left.", "Turn the knob left."),
        ("Bake H~2~O for 3 m^2^ of tiles.", "Bake H2O for 3 m² of tiles."),
        ("It costs $3{,}000$ or $2 \\times 10^{3}$ a year.", "costs 3,000 or 2 × 10³ a year"),
        ("It has 10^3^ taps and `%%no%%` code.", "has 10³ taps and %%no%% code"),
    ],
)
def test_a_quotation_is_compared_with_what_a_reader_sees(written: str, shown: str) -> None:
    place = QuotableChunk(chunk(1, written)).locate(shown)
    assert place and place.verdict == "verified"


@pytest.mark.parametrize("quote", ["It has 103 taps", "costs 3000", "The tap asks Ola"])
def test_what_no_reader_sees_is_not_verified(quote: str) -> None:
    note = "It has 10^3^ taps, costs $3{,}000$. The tap %%ask Ola%% drips."
    assert QuotableChunk(chunk(1, note)).locate(quote) is None


def test_an_uncut_occurrence_counts() -> None:
    place = QuotableChunk(
        chunk(1, "It is not safe to walk on.\nBut here it is safe to walk on.", start_line=1)
    ).locate("safe to walk on")
    assert place is not None
    assert (place.verdict, place.start_line) == ("verified", 2)


def test_a_quotation_is_found_among_several_texts_or_its_nearest_wording() -> None:
    texts = [
        QuotableChunk(chunk(1, HOUSE)),
        QuotableChunk(chunk(2, "The trees are pruned in April.", start_line=7)),
    ]
    found = find_quotation("the trees are pruned in april", texts)
    assert (found.verdict, found.chunk and found.chunk.number, found.start_line) == (
        "verified",
        2,
        7,
    )
    assert find_quotation("safe to walk on", texts).sentence == "The ice is not safe to walk on."
    wrong = find_quotation("the trees are cut in May", texts)
    assert (wrong.verdict, wrong.nearest) == ("misquoted", "The trees are pruned in March")
    assert wrong.heading == "Garden"
    assert find_quotation("zebras gallop across wide savannas", texts).verdict == "not_found"


@pytest.mark.parametrize(
    ("quote", "nearest"),
    [
        ("The house was painted green in 1951", "The house was painted red in 1950"),
        ("the fence was given away in May", "the fence was sold in May"),
        ("不可以在水上行走", "不可以在冰上行走"),
        ("Das Wässer ist im Sommer nicht warm", "Das Wasser ist im Winter nicht warm"),
        ("The notes are in the house, and the door is on the ice", None),
        ("What is not in it was on the other side of this", None),
        ("in the garden he painted a bridge, and never cut the trees", None),
    ],
)
def test_a_nearest_wording_has_most_of_the_telling_words_in_their_order(
    quote: str, nearest: str | None
) -> None:
    assert find_quotation(quote, [QuotableChunk(chunk(1, HOUSE))]).nearest == nearest


# Every dress, every change

NOTES = sorted((Path(zkchat_cli.__file__).parent / "demo").rglob("*.md"))
DRESSES = ["“{}”", '"{}"', "‘{}’", "'{}'", "„{}“", "«{}»", "‹{}›", "「{}」", "『{}』", "»{}«"]


def statements() -> Iterator[tuple[QuotableChunk, str]]:
    for text in (HOUSE, *(path.read_text(encoding="utf-8") for path in NOTES)):
        note = QuotableChunk(chunk(1, text))
        for sentence in sentences(text):
            words = to_plain_text(sentence)
            if len(words) >= 20 and not re.search(r"""["'“”‘’<]""", words + sentence):
                yield note, words


@pytest.mark.untraced
def test_a_true_quotation_is_verified_in_every_dress() -> None:
    count = 0
    for (note, words), dress in zip(statements(), cycle(DRESSES), strict=False):
        sources = CitableSources([note.chunk])
        for written in (
            dress.format(words),
            dress.format(words.replace(" ", "\u00a0", 1).replace("-", "‑")),
        ):
            citations = verify_citations(f"The note says {written} [1].", sources).citations
            assert [c.verdict for c in citations] == ["verified"], written
            count += 1
    assert count > 100


UNITS = [
    "kWh",
    "kW",
    "W",
    "kg",
    "g",
    "km",
    "m",
    "cm",
    "°C",
    "°F",
    "%",
    "€",
    "MB",
    "ms",
    "days",
    "notes",
    "tokens",
    "euros",
    "MW",
]
NEGATIONS = ("not", "never", "no", "only", "unless", "if", "without", "cannot")
VERBS = ("is", "are", "was", "can", "will", "must", "should", "be", "do", "does")


def changed(words: str, dice: random.Random, vocabulary: list[str]) -> Iterator[str]:
    """The words with one word, digit, unit or negation changed."""
    split = words.split()
    at = dice.randrange(len(split))
    yield " ".join([*split[:at], dice.choice(vocabulary), *split[at + 1 :]])
    yield " ".join([*split[:at], *split[at : at + 2][::-1], *split[at + 2 :]])
    if 0 < at < len(split) - 1:
        yield " ".join(split[:at] + split[at + 1 :])
    for digit in re.finditer(r"\d", words):
        yield (
            words[: digit.start()]
            + str((int(digit[0]) + dice.randint(1, 9)) % 10)
            + words[digit.end() :]
        )
    for unit in re.finditer(r"(?<=\d)( ?)([A-Za-z°%€]+)\b", words):
        yield (
            words[: unit.start(2)]
            + dice.choice([each for each in UNITS if each != unit[2]])
            + words[unit.end(2) :]
        )
    for i, word in enumerate(split):
        if word.lower() in NEGATIONS:
            yield " ".join(split[:i] + split[i + 1 :])
        if word.lower() in VERBS:
            yield " ".join([*split[: i + 1], "not", *split[i + 1 :]])
        if word.startswith("un"):
            yield " ".join([*split[:i], word[2:], *split[i + 1 :]])


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", fold(text))


def has_words(words: list[str], note: str) -> bool:
    """Whether the words are a run of the note's words, as they are written or as a reader sees
    them.
    """
    wanted = f" {' '.join(words)} "
    rendered = re.sub(
        r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]|\[([^\[\]\n]*)\]\([^()\n]*\)",
        r"\1\2",
        re.sub(r"(?m)^[ \t>]*(\d+\. )?", "", note),
    )
    return any(wanted in f" {' '.join(words_of(text))} " for text in (note, rendered))


@pytest.mark.untraced
def test_changed_quotations_are_never_verified() -> None:
    dice = random.Random(21)
    every = list(statements())
    vocabulary = [word for _, words in every for word in words.split() if word.isalpha()]
    tried = 0
    missed = list[str]()
    while tried < 1000:
        note, words = dice.choice(every)
        for quote in changed(words, dice, vocabulary):
            if words_of(quote) != words_of(words) and not has_words(
                words_of(quote), note.chunk.text
            ):
                place = note.locate(quote)
                missed += [quote] if place and place.verdict == "verified" else []
                tried += 1
    assert missed == []


WORDS = (
    "the ice is not safe unsafe to walk on only if 14 14,200 200 2.4 kW kWh −5 5 °C red cat's "
    "café 10² *bold* `code` [[Note|alias]] 冰 上 …"
)
pieces = st.sampled_from(
    [*WORDS.split(), "[text](url)", ". ", ", ", "\n", "\n\n- ", "\n# ", "\n> ", "\n1. ", " – "]
)
written = st.lists(pieces, min_size=1, max_size=40).map(" ".join).filter(words_of)


@given(written, st.data())
def test_verified_words_are_a_run_of_the_notes_words(note: str, data: st.DataObject) -> None:
    words = note.split()
    start = data.draw(st.integers(0, len(words) - 1))
    quote = " ".join(words[start : start + data.draw(st.integers(1, 12))])
    if data.draw(st.booleans()):
        quote = data.draw(written)
    place = QuotableChunk(chunk(1, note)).locate(quote)
    if place and place.verdict == "verified" and "…" not in quote and words_of(quote):
        plain = re.sub(r"(?m)^[ \t>#]*(?:- |\d+\. )*", "", quote)
        assert has_words(words_of(quote), note) or has_words(words_of(to_plain_text(plain)), note)
