"""How often the verdict on support is right: `python tests/bench/support.py VAULT [--sentences 500]`.

Sentences of a vault are paired with their own section (as they are, with words moved, left out or replaced) and with near sections of other
notes; numbers, names and negations are exchanged. Only the last four kinds may be "does_not_support".
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from zkchat_cli.citations.support import Evidence, judge_support
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.models import ContentChunk
from zkchat_cli.text.words import STOPWORDS, content_terms, stem

SUPPORTED = ("true", "moved", "shortened", "reworded")
GENERAL = "thing item way part kind use make give show handle".split()
NEGATED = re.compile(r"\b(?:not?|never|cannot|without)\b|n.t\b|[不没沒未]|\d")
NAME = re.compile(r"(?<=[\w,] )[A-Z]\w+")


def sections(vault: Path) -> Iterator[ContentChunk]:
    for path in sorted(vault.rglob("*.md")):
        for number, text in enumerate(re.split(r"\n(?=#{1,3} )", path.read_text(encoding="utf-8", errors="replace"))):
            if 200 < len(text) < 4000:
                place = {"relative_path": str(path.relative_to(vault)), "title": path.stem, "start_line": 1, "end_line": 1}
                yield ContentChunk(id=f"{path}{number}", text=text, **place)


def pairs(evidence: list[Evidence], dice: random.Random, count: int) -> Iterator[tuple[str, str, Evidence]]:
    """The kind of a pair, the sentence and the section."""
    every = [(own, to_plain_text(text)) for own in evidence for text in sentences(own.chunk.text)]
    every = [(own, text) for own, text in every if 40 < len(text) < 250 and len(content_terms(text)) >= 4]
    names = [name for own in evidence for name in NAME.findall(own.chunk.text)]
    for own, text in dice.sample(every, min(count, len(every))):
        words = text.split()
        at = dice.randrange(len(words))
        yield "true", text, own
        yield "moved", " ".join([*words[at:], *words[:at]]), own
        yield "shortened", " ".join(word for word in words if dice.random() < 0.6 or NEGATED.search(word)), own
        kept = (word.lower() in STOPWORDS or NEGATED.search(word) or dice.random() < 0.7 for word in words)
        yield "reworded", " ".join(word if keep else dice.choice(GENERAL) for word, keep in zip(words, kept, strict=True)), own
        wanted = frozenset(map(stem, content_terms(text)))
        others = (each for each in evidence if each.chunk.relative_path != own.chunk.relative_path and text[:40] not in each.chunk.text)
        for near in sorted(others, key=lambda each: -len(wanted & each.words))[:2]:
            yield "near", text, near
        for number in list(re.finditer(r"\d+", text))[:1]:
            yield "number", f"{text[: number.start()]}{int(number[0]) + dice.choice([1, 2, 7, 10])}{text[number.end() :]}", own
        for name in list(NAME.finditer(text))[:1]:
            if (other := dice.choice(names)).lower() not in own.chunk.text.lower():
                yield "name", text[: name.start()] + other + text[name.end() :], own
        for verb in list(re.finditer(r"\b(?:is|are|can|will|must|should)\b", text))[:1]:
            yield "negation", f"{text[: verb.end()]} not{text[verb.end() :]}", own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--sentences", type=int, default=500)
    options = parser.parse_args()
    dice = random.Random(1)
    evidence = [Evidence(chunk) for chunk in sections(options.vault)]
    dice.shuffle(evidence)
    judged = Counter((kind, judge_support(text, [own])) for kind, text, own in pairs(evidence[:1500], dice, options.sentences))
    for kind in dict.fromkeys(kind for kind, _ in judged):
        print(f"{kind:10}", {verdict: judged[kind, verdict] for verdict in ("supports", "unclear", "does_not_support")})
    wrong = sum(judged[kind, "does_not_support"] for kind in SUPPORTED)
    every = sum(count for (_, verdict), count in judged.items() if verdict == "does_not_support")
    others = sum(count for (kind, _), count in judged.items() if kind not in SUPPORTED)
    print(f"does_not_support: precision {1 - wrong / every:.3f}, recall {(every - wrong) / others:.3f}")


if __name__ == "__main__":
    main()
