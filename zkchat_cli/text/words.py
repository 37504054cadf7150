"""Words and sentences: the one notion of both that search, quoting, summaries and "nearest name" share.

Pure and without dependencies. CJK runs have no spaces between words, so they are cut into overlapping bigrams, at index time and at
query time alike; without that, search in Chinese notes finds nothing (recall at 5 of 0.04 instead of 0.9, measured on a real vault).
"""

import re
import unicodedata
from functools import cache, lru_cache

STOPWORDS = frozenset(
    """a about after all also am an and any are aren't as at be been before being both but by can can't could did do does doesn't doing
    don't down each few for from further had has have having he her here hers him his how i if in into is isn't it it's its itself just
    let me more most my no nor not now of off on once only or other our out over own please same see she should so some such tell than that
    the their them then there these they this those through to too under until up us very was we were what what's when where which while
    who whom why will with would you your""".split()
)

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f"
"""Characters of scripts that put no spaces between words, for use inside a regular expression's brackets."""

_ASCII_RUN = re.compile(r"[a-z0-9]+(?:'[a-z]+)*")

_HALF = re.compile("[\ud800-\udfff]")

_DIACRITICS = re.compile("[\u0300-\u034e\u0350-\u036f\xad\u200c\u200d\u2060\ufeff]++")
"""Combining characters, and those that are not seen: a word where it may be hyphenated, or whose letters are not to join, is that word."""

_RARE_DIACRITICS = re.compile(
    "[\u0483-\u1dff\u20d0-\u20f0\u2cef-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\uabed\ufb1e\ufe20-\ufe2f\U000101fd-\U0001e94a]"
)
"""Where all other combining characters stand, among many that are none. To look for these first makes folding twice as fast."""


@cache
def _run() -> re.Pattern[str]:
    """A run of letters or of CJK characters; in the scripts of India vowels are marks, which `\\w` is not. Compiled when first needed: so
    large a class takes 8 ms of start-up."""
    return re.compile(rf"[{CJK}]+|[\u0900-\u0963\u0966-\u0dff]+|[^\W_{CJK}]+(?:['’][^\W\d_{CJK}]+)*")


@cache
def cjk_pattern() -> re.Pattern[str]:
    """One CJK character; compiled when first needed."""
    return re.compile(f"[{CJK}]")


def replace_surrogates(text: str) -> str:
    """`text` without halves of surrogate pairs, which a command line, a file's name or a model may bring and no UTF-8 can hold."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def fold(text: str) -> str:
    """`text` without case and diacritics, for comparing: `Équipe` and `equipe` are the same word."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())  # `𝓐` is an A before it is an a
    bare = _DIACRITICS.sub("", decomposed)
    if _RARE_DIACRITICS.search(bare):
        bare = "".join(c for c in bare if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", bare)


def terms(text: str) -> list[str]:
    """The words of `text`, folded, in order, stopwords included; a CJK run becomes its bigrams (one character stays itself)."""
    return _cut(text)[0]


def _cut(text: str) -> tuple[list[str], set[str]]:
    """`terms`, and the characters with which CJK runs end: no bigram begins with these."""
    folded = fold(text)
    if folded.isascii():
        return _ASCII_RUN.findall(folded), set()
    found: list[str] = []
    ends: set[str] = set()
    for run in _run().findall(folded):
        if cjk_pattern().match(run):
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
            ends |= {run[-1]} if len(run) > 1 else set()
        else:
            found.append(run.replace("’", "'"))
    return found, ends


_TYPOGRAPHY = str.maketrans({**dict.fromkeys("“”„‘‚«»‹›–—―…•·→←↔⇒✓✅❌\xa0\u200b", " "), "’": "'"})


def to_index_text(text: str) -> str:
    """`text` as an index takes it whose tokenizer splits at everything in ASCII but letters and digits, and folds the case of ASCII only.

    Its words are then those of `terms`, with words like "don't" in two. What is ASCII goes in as it is, which is most of many vaults and
    costs nothing; only other lines are folded and cut here. The ends of CJK runs come behind it all, each once: so a single character is
    found by what begins with it wherever it stands, and phrases stay whole.
    """
    if text.isascii():
        return text
    lines = []
    ends: set[str] = set()
    for line in text.split("\n"):
        plain = line if line.isascii() else line.translate(_TYPOGRAPHY)
        if not plain.isascii():
            found, last = _cut(plain)
            plain, ends = " ".join(found), ends | last
        lines.append(plain)
    return "\n".join([*lines, *([" ".join(sorted(ends))] if ends else [])])


def content_terms(text: str) -> list[str]:
    """`terms` without stopwords and single Latin letters; all the terms when nothing else is left ("what is it?")."""
    every = terms(text)
    return [t for t in every if t not in STOPWORDS and (len(t) > 1 or not t.isascii() or t.isdigit())] or every


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A light English stem for comparing words of a question with words of a note; never for the index (it hurts there)."""
    for suffix in ("ingly", "edly", "ings", "ing", "ies", "ied", "ed", "es", "ly", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)] + ("y" if suffix in ("ies", "ied") else "")
            break
    if (len(word) > 3 and word[-1] == "e") or (len(word) > 4 and word[-1] == word[-2]):  # note, notes; stop, stopped
        return word[:-1]
    return word
