"""Counting tokens exactly and offline, each text once.

The vocabularies of `o200k_base` and `cl100k_base` are shipped under the names tiktoken's cache expects (sha1 of their address), because
tiktoken would otherwise download them, without a time-out. Loading one takes about 0.25 s, so it happens on a background thread while the
index is refreshed or the user types. Without a vocabulary, figures are estimates, and say so.
"""

import hashlib
import math
import os
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from zkchat_cli.errors import UsageError

ENCODINGS = ("o200k_base", "cl100k_base")
VOCABULARY = Path(__file__).with_name("vocabulary")
_FILES = dict(zip(ENCODINGS, ("fb374d419588a4632f3f557e76b4b70aebbca790", "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"), strict=True))
_MAX_CACHED = 20_000
_PIECE = 100_000
_LONG, _LONG_LINES = 2000, 25
"""Characters of a text that is counted line by line, and their average length: only then are cached lines cheaper."""
_NEXT_LINE = re.compile(r"(?<=\n)(?=[^\s/])")
"""A token always ends here in both vocabularies: white space, or a slash after it, may join a line break."""
_ENDLESS_BLANK = re.compile(rf"(?<!\s)\s{{{_PIECE}}}")
_SEAM = re.compile(rf"{_NEXT_LINE.pattern}|(?<=[^\W\d_])(?= [^\W\d_])")
"""The same, or before a single space between two letters."""


class Encoder(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...


def load_vocabulary(encoding: str) -> Encoder:
    """tiktoken's encoding from the shipped files. Raises tiktoken's errors if they are missing or damaged."""
    if encoding not in ENCODINGS:
        raise UsageError(f"{encoding} is not an encoding zkchat ships", f"Choose {' or '.join(ENCODINGS)}.")
    folder = Path(os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(VOCABULARY)))
    if not (folder / _FILES[encoding]).is_file():
        raise FileNotFoundError(f"{folder} has no vocabulary of {encoding}")  # tiktoken would download it without a time-out
    import tiktoken  # 30 ms that `--help` and `--version` do not need

    return tiktoken.get_encoding(encoding)


class TokenCounter:
    """Counts tokens and caches the counts by the text's hash. `load` returns the vocabulary.

    A model may have another tokenizer: `calibrated` counts with a factor. Stored counts are those of `count_raw`.
    """

    factor = 1.0
    exact = True
    """Whether the vocabulary is the model's own."""

    def __init__(self, encoding: str = "o200k_base", load: Callable[[str], Encoder] = load_vocabulary) -> None:
        self.encoding = encoding
        self._load = load
        self._encoder: Encoder | None = None
        self._failed: Exception | None = None
        self._lock = threading.Lock()
        self._counts: dict[bytes, int] = {}

    @property
    def ready(self) -> bool:
        """Whether `count` would return at once."""
        return self._encoder is not None or self._failed is not None

    @property
    def estimated(self) -> bool:
        """Whether counts are estimates because no vocabulary could be loaded (see `problem`)."""
        return self._encoder is None

    @property
    def problem(self) -> str | None:
        return str(self._failed) if self._failed else None

    def load_in_background(self) -> threading.Thread:
        """Load the vocabulary on a background thread; `count` waits for it."""
        thread = threading.Thread(target=self._ensure, name="vocabulary", daemon=True)
        thread.start()
        return thread

    def calibrated(self, factor: float, *, exact: bool = False) -> "TokenCounter":
        """A counter for a model with `factor` tokens for each of ours; it shares the cache.

        Its counts are estimates unless the vocabulary is the model's own (`exact`).
        """
        return _Calibrated(self, factor, exact=exact)

    def count(self, text: str, progress: Callable[[int, int], None] = lambda _done, _total: None) -> int:
        """Tokens of `text` for the model in use. For a very long text `progress` gets the number of counted and of all pieces."""
        return self.scale(self.count_raw(text, progress))

    def scale(self, raw: int) -> int:
        """The calibrated count for a raw one."""
        return raw

    def count_raw(self, text: str, progress: Callable[[int, int], None] = lambda _done, _total: None) -> int:
        """Tokens of `text` in the vocabulary, special tokens as the plain text they are (`encode` would raise on `<|endoftext|>`)."""
        if not text:
            return 0
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._counts.get(key)
        if known is None:
            encoder = self._ensure()
            if encoder is None:
                known = estimate_tokens(text)
            elif len(text) > _PIECE:
                known = _count_in_threads(encoder, _pieces(text), progress)
            else:
                lines = _lines(text)
                known = sum(map(self.count_raw, lines)) if len(lines) > 1 else len(encoder.encode_ordinary(text))
            if len(self._counts) >= _MAX_CACHED:
                self._counts.clear()
            self._counts[key] = known
        return known

    def _ensure(self) -> Encoder | None:
        with self._lock:
            if not self.ready:
                try:
                    self._encoder = self._load(self.encoding)
                except UsageError:
                    raise
                except Exception as e:  # noqa: BLE001  an estimate serves; doctor shows the problem
                    self._failed = e
            return self._encoder


class _Calibrated(TokenCounter):
    """Scales the counts of another counter."""

    def __init__(self, plain: TokenCounter, factor: float, *, exact: bool) -> None:
        self._plain: TokenCounter = plain._plain if isinstance(plain, _Calibrated) else plain
        self.exact = exact
        self.factor = factor
        self.encoding = plain.encoding

    @property
    def ready(self) -> bool:
        return self._plain.ready

    @property
    def estimated(self) -> bool:
        return self._plain.estimated or not self.exact

    @property
    def problem(self) -> str | None:
        return self._plain.problem

    def load_in_background(self) -> threading.Thread:
        return self._plain.load_in_background()

    def count_raw(self, text: str, progress: Callable[[int, int], None] = lambda _done, _total: None) -> int:
        return self._plain.count_raw(text, progress)

    def scale(self, raw: int) -> int:
        return math.ceil(raw * self.factor)


def _count_in_threads(encoder: Encoder, pieces: list[str], progress: Callable[[int, int], None]) -> int:
    from concurrent.futures import ThreadPoolExecutor  # only long texts are worth the milliseconds

    tokens = 0
    with ThreadPoolExecutor(os.cpu_count()) as threads:  # tiktoken releases the GIL
        for done, count in enumerate(threads.map(lambda piece: len(encoder.encode_ordinary(piece)), pieces), 1):
            tokens += count
            progress(done, len(pieces))
    return tokens


def _lines(text: str) -> Sequence[str]:
    """A long text in lines that are counted one by one: a summary keeps most of its lines from message to message."""
    if len(text) < _LONG or text.count("\n") * _LONG_LINES > len(text):
        return (text,)
    return _NEXT_LINE.split(text)


def _pieces(text: str) -> list[str]:
    """A long text in pieces with the same tokens in total, except for runs of white space that would overflow tiktoken's stack."""
    pieces, start = [], 0
    while len(text) - start > _PIECE and (seam := _SEAM.search(text, start + _PIECE)):
        pieces.append(text[start : seam.start()])
        start = seam.start()
    pieces.append(text[start:])
    return [part for piece in pieces for part in (_split_fixed(piece) if len(piece) > _PIECE and _ENDLESS_BLANK.search(piece) else [piece])]


def _split_fixed(text: str) -> list[str]:
    return [text[i : i + _PIECE] for i in range(0, len(text), _PIECE)]


def estimate_tokens(text: str) -> int:
    """A third of the UTF-8 bytes, rounded up: rather too many than too few."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / 3)
