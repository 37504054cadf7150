"""Changes of what a quotation leaves out or joins, in nine languages: none of them may be verified.

`python tests/structural_mutations.py 5000` tries so many in each language.
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from factories import chunk

from zkchat_cli.citations.quotes import QuotableChunk

SAMPLES = Path(__file__).parent / "samples" / "structural_mutations.txt"
_SECTION = re.compile(r"(?m)^# (\w+)\n")
_OMITTED = re.compile(r"\{([^{}]*)\}")
_SPACELESS = ("zh", "ja")


class Sample(NamedTuple):
    """What notes of a language are made of. In `changed` sentences braces are around what changes
    the rest.
    """

    language: str
    plain: list[str]
    changed: list[str]
    numbers: list[str]

    def pieces(self, sentence: str) -> list[str]:
        """The words of a sentence, or the characters in a script without spaces."""
        bare = sentence.rstrip(".。")
        return list(bare) if self.language in _SPACELESS else bare.split(" ")

    def join(self, pieces: list[str]) -> str:
        return ("" if self.language in _SPACELESS else " ").join(pieces)


class Mutation(NamedTuple):
    """A note, and a quotation from it that says something else."""

    kind: str
    note: str
    quote: str


def read_samples() -> list[Sample]:
    _, *sections = _SECTION.split(SAMPLES.read_text(encoding="utf-8"))
    found: list[Sample] = []
    for language, text in zip(sections[::2], sections[1::2], strict=True):
        lines = text.strip().splitlines()
        changed = [line for line in lines if "{" in line]
        plain = [line for line in lines if "{" not in line and " | " not in line]
        found.append(Sample(language, plain, changed, lines[-1].split(" | ")))
    return found


def _spliced(sample: Sample, dice: random.Random) -> Iterator[Mutation]:
    """The beginning of a sentence and the end of a later one."""
    chosen = dice.sample(sample.plain, 3)
    first = sample.pieces(chosen[0])
    last = sample.pieces(chosen[2])
    begin = first[: dice.randint(1, len(first) - 1)]
    end = last[dice.randint(1, len(last) - 1) :]
    if _has_words(chosen[2], sample.join(begin)) or _has_words(chosen[0], sample.join(end)):
        return
    omission = dice.choice((" … ", "…", " [...] ", "..."))
    quote = f"{sample.join(begin)}{omission}{sample.join(end)}"
    separator = "" if sample.language in _SPACELESS else " "
    yield Mutation("splice", separator.join(chosen), quote)
    yield Mutation("splice of items", "".join(f"- {each}\n" for each in chosen), quote)
    semicolon = "；" if sample.language == "zh" else "; "
    if sample.language not in ("ja", "ar"):
        joined = semicolon.join(each.rstrip(".。") for each in chosen)
        yield Mutation("splice at a semicolon", joined, quote)


def _run_together(sample: Sample, dice: random.Random) -> Iterator[Mutation]:
    """The end of an item or a row, and the beginning of the next one."""
    first, second = (sample.pieces(each) for each in dice.sample(sample.plain, 2))
    end = first[dice.randint(1, len(first) - 1) :]
    begin = second[: dice.randint(1, len(second) - 1)]
    items = f"- {sample.join(first)}\n- {sample.join(second)}\n"
    yield Mutation("items", items, sample.join([*end, *begin]))
    half = len(first) // 2
    other = len(second) // 2
    row = f"| {sample.join(first[:half])} | {sample.join(first[half:])} |"
    below = f"| {sample.join(second[:other])} | {sample.join(second[other:])} |"
    for rule in ("", "|---|---|\n"):
        quote = sample.join([*first[half:], *second[:other]])
        yield Mutation("rows", f"{row}\n{rule}{below}\n", quote)


def _cut(sample: Sample, dice: random.Random) -> Iterator[Mutation]:
    """A sentence without the words that change it."""
    written = dice.choice(sample.changed)
    rest = _OMITTED.sub("", written).strip()
    before = dice.choice(sample.plain)
    separator = "" if sample.language in _SPACELESS else " "
    sentence = written.replace("{", "").replace("}", "")
    note = f"{before}{separator}{sentence}"
    pieces = sample.pieces(rest)
    kind = "cut behind"
    if written.startswith("{"):
        pieces = pieces[: dice.randint(max(2, len(pieces) // 2), len(pieces))]
        kind = "cut before"
    quote = sample.join(pieces)
    if not _has_words(before, quote):
        yield Mutation(kind, note, quote)


def _halved(sample: Sample, dice: random.Random) -> Iterator[Mutation]:
    """A part of a number or of a hyphenated word."""
    number = dice.choice(sample.numbers)
    sentence = dice.choice(sample.plain)
    size = dice.randint(1, len(number) - 1)
    for part in (number[:size], number[size:]):
        bare = part.strip(" −–-,./")
        if _is_numeral(bare) and bare != number and bare not in sentence:
            yield Mutation("numeral", f"{sentence} {number}", bare)
    for word in re.findall(r"\w+(?:-\w+)+", " ".join(sample.plain)):
        half = dice.choice(word.split("-"))
        whole = next(each for each in sample.plain if word in each)
        pieces = sample.pieces(whole)
        at = next(index for index, piece in enumerate(pieces) if word in piece)
        is_first = word.startswith(half)
        around = [*pieces[:at], half] if is_first else [half, *pieces[at + 1 :]]
        yield Mutation("half of a word", whole, sample.join(around))


def _is_numeral(part: str) -> bool:
    return any(c.isdigit() or c in "一二三四五六七八九十百千万〇" for c in part)


def _has_words(sentence: str, words: str) -> bool:
    """Whether a sentence has words as they are, so that they are quoted truly."""
    return words.lower() in sentence.lower()


MUTATORS: tuple[Callable[[Sample, random.Random], Iterator[Mutation]], ...] = (
    _spliced,
    _run_together,
    _cut,
    _halved,
)


def mutations(sample: Sample, count: int, seed: int = 46) -> Iterator[Mutation]:
    """So many mutations in a language, each quotation at least two characters long."""
    dice = random.Random(f"{sample.language}{seed}")
    made = 0
    while made < count:
        for mutator in MUTATORS:
            for mutation in mutator(sample, dice):
                yield mutation
                made += 1


def is_verified(note: str, quote: str) -> bool:
    place = QuotableChunk(chunk(1, note)).locate(quote)
    return place is not None and place.verdict == "verified"


def true_quotations(sample: Sample, count: int, seed: int = 46) -> Iterator[tuple[str, str]]:
    """Notes, and sentences or runs of their sentences, in other typography."""
    dice = random.Random(f"{sample.language}{seed}")
    separator = "" if sample.language in _SPACELESS else " "
    sentences = [
        each.replace("{", "").replace("}", "") for each in (*sample.plain, *sample.changed)
    ]
    for _ in range(count):
        chosen = dice.sample(sentences, 3)
        first = dice.randrange(3)
        quoted = separator.join(chosen[first : dice.randint(first + 1, 3)])
        note = dice.choice(NOTES)(chosen, separator)
        yield note, dice.choice(DRESSES)(quoted)


NOTES: tuple[Callable[[list[str], str], str], ...] = (
    lambda sentences, separator: separator.join(sentences),
    lambda sentences, separator: "# A\n\n" + separator.join(sentences) + "\n\n# B\n",
    lambda sentences, separator: f"**{sentences[0]}**{separator}{separator.join(sentences[1:])}",
    lambda sentences, _: "\n".join(sentences),
    lambda sentences, _: "\n".join(f"> {sentence}" for sentence in sentences),
)
DRESSES: tuple[Callable[[str], str], ...] = (
    str,
    str.upper,
    lambda quote: quote.rstrip(".。"),
    lambda quote: quote.replace(" ", "\u00a0", 1),
    lambda quote: quote.replace(" ", "\n", 1),
    lambda quote: f"**{quote}**",
    lambda quote: quote.replace("'", "’"),
    lambda quote: f"… {quote}",
    lambda quote: quote.replace("-", "‑"),
)


def main(count: int) -> None:
    for sample in read_samples():
        wrong = Counter[str]()
        total = Counter[str]()
        for mutation in mutations(sample, count):
            total[mutation.kind] += 1
            if is_verified(mutation.note, mutation.quote):
                wrong[mutation.kind] += 1
                if wrong[mutation.kind] <= 4:
                    print("✓", mutation)
        missed = [pair for pair in true_quotations(sample, count) if not is_verified(*pair)]
        for pair in missed[:5]:
            print("not ✓", pair)
        print(
            f"{sample.language}: {sum(wrong.values())} of {total.total()} mutations verified "
            f"{dict(wrong)}; {count - len(missed)} of {count} true quotations verified"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))
