"""Counting tokens exactly and offline, each text once.

Loading a vocabulary takes 0.2 s and 80 MB, so short texts are counted by a table, and a chat loads
the vocabulary on a background thread. If a shipped file is missing or damaged, tokens are estimated
by the characters.
"""

import logging
import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import copy
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from zkchat_cli.errors import TokenizerError
from zkchat_cli.tokens.encodings import ENCODINGS, Encoder, load_vocabulary, vocabulary_file
from zkchat_cli.tokens.image_rules import UNKNOWN_MODEL, ImageRule
from zkchat_cli.tokens.table_encoder import CHECKSUMS, TableEncoder

# Imported only for types: pydantic must not load for `zkchat tokens --help`
if TYPE_CHECKING:
    from zkchat_cli.models.images import Image
    from zkchat_cli.models.prompts import Calibration

_log = logging.getLogger(__name__)

# Most texts in the cache
_MAX_CACHED = 10_000
# Characters of a long text to count at once: a longer run of white space would overflow tiktoken's
# stack
_PIECE = 100_000
# Characters from which a text is counted, and cached, line by line: a summary keeps most of its
# lines from message to message
_LONG = 2000
_NEXT_LINE = re.compile(r"(?<=\n)(?=[^\s/])")
"""Both vocabularies end a token here: only white space or a slash can join the line break before
it.
"""
# The same, or before a space between letters
_SEAM = re.compile(rf"{_NEXT_LINE.pattern}|(?<=[^\W\d_])(?= [^\W\d_])")
MESSAGE_OVERHEAD = 4
"""Tokens of each message's role and delimiters (OpenAI's cookbook counts 3 to 4)."""


@cache
def open_encoder(encoding: str) -> Encoder:
    """An encoding from the shipped files, with a table if it has one. Raises TokenizerError if they
    are missing or damaged.
    """
    # A table alone would count short texts exactly and fail at the first long one
    if encoding in CHECKSUMS and vocabulary_file(encoding).is_file():
        with suppress(TokenizerError):
            return TableEncoder(encoding)
    return load_vocabulary(encoding)


class _SharedProblem:
    """Why texts cannot be counted; a counter and those made from it share it."""

    def __init__(self) -> None:
        self.error: TokenizerError | None = None


class TokenCounter:
    """Counts tokens.

    A model may have another tokenizer: `calibrated` returns a counter that applies a factor. Stored
    counts are those of `count_to_store`.
    """

    def __init__(
        self, encoding: str = ENCODINGS[0], load: Callable[[str], Encoder] = open_encoder
    ) -> None:
        self.encoding = encoding
        self.factor = 1.0
        self.tool_factor = 1.0
        # Whether the model in use has this vocabulary
        self.exact = True
        # How the model in use counts pictures; None if it takes none
        self.image_rule: ImageRule | None = UNKNOWN_MODEL
        self._load = load
        self._problem = _SharedProblem()
        self._count = lru_cache(_MAX_CACHED)(self._encode)

    @property
    def estimated(self) -> bool:
        """Whether counts are estimates: the model has another vocabulary, or a file is missing."""
        return not self.exact or self.problem is not None

    @property
    def problem(self) -> TokenizerError | None:
        """Why tokens are estimated by characters; None if the shipped files can be read."""
        self._open()
        return self._problem.error

    def _open(self) -> Encoder | None:
        """The encoder; None if it cannot be opened, now and for every further text."""
        if self._problem.error is None:
            try:
                return self._load(self.encoding)
            except TokenizerError as e:
                self._fail(e)
        return None

    def _fail(self, error: TokenizerError) -> None:
        """Estimate from now on."""
        _log.warning("tokens are estimated by characters: %s", error.message)
        self._problem.error = error

    def load_vocabulary(self) -> None:
        """Load the vocabulary, which only long texts need; that takes 0.2 s."""
        encoder = self._open()
        if isinstance(encoder, TableEncoder):
            try:
                encoder.load_vocabulary()
            except TokenizerError as e:
                self._fail(e)

    def calibrated(
        self,
        calibration: "Calibration",
        *,
        exact: bool = False,
        image_rule: ImageRule | None = UNKNOWN_MODEL,
    ) -> "TokenCounter":
        """A counter for a model with this calibration and this rule for pictures; it shares the
        vocabulary and the cache.
        """
        other = copy(self)
        other.factor = calibration.text
        other.tool_factor = calibration.tool_factor
        other.exact = exact
        other.image_rule = image_rule
        return other

    def count(self, text: str) -> int:
        """Tokens of `text` for the model in use."""
        return self.scale(self.count_raw(text))

    def count_image(self, image: "Image") -> int:
        """Tokens of a picture for the model in use."""
        return self.image_rule.tokens(image.width, image.height) if self.image_rule else 0

    def count_tool(self, description: str) -> int:
        """Tokens of a tool's description for the model in use."""
        return math.ceil(self.count_raw(description) * self.tool_factor)

    def scale(self, raw: int) -> int:
        """The calibrated count for a raw one."""
        return math.ceil(raw * self.factor)

    def count_raw(self, text: str) -> int:
        """Tokens of `text` in the vocabulary, without calibration.

        Special tokens count as plain text (`encode` would raise on `<|endoftext|>`).
        """
        if len(text) > _PIECE:
            return sum(map(self._encode, _pieces(text)))
        if len(text) >= _LONG:
            return sum(map(self._count, _NEXT_LINE.split(text)))
        return self._count(text)

    def count_to_store(self, text: str) -> int | None:
        """`count_raw`; None for an estimate by characters, which a later process would take for a
        count.
        """
        tokens = self.count_raw(text)
        return None if self._problem.error is not None else tokens

    def _encode(self, text: str) -> int:
        encoder = self._open()
        if encoder is not None:
            try:
                return len(encoder.encode_ordinary(text))
            except TokenizerError as e:
                self._fail(e)
        return estimate_tokens(text)


def _pieces(text: str) -> Iterator[str]:
    """A long text in pieces that have the same tokens in total.

    The exception is a piece without any certain end of a token in its second half.
    """
    start = 0
    while len(text) - start > _PIECE:
        seam = _SEAM.search(text, start + _PIECE // 2, start + _PIECE)
        end = seam.start() if seam else start + _PIECE
        yield text[start:end]
        start = end
    yield text[start:]


def estimate_tokens(text: str) -> int:
    """A third of the UTF-8 bytes, rounded up: rather too many than too few."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / 3)
