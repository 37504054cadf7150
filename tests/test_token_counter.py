"""Counting tokens: exact, offline, each text once."""

import hashlib
import random
import struct
import zlib
from collections import Counter

import pytest
import tiktoken
from factories import COUNTER

from zkchat_cli.tokens.counter import TokenCounter, open_encoder
from zkchat_cli.tokens.encodings import ENCODINGS, VOCABULARY, load_vocabulary
from zkchat_cli.tokens.table_encoder import CHECKSUMS, MAX_TEXT, token_hash

ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
SHA256 = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}


class Letters:
    """An encoder for which every character is a token; it remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def encode_ordinary(self, text: str) -> list[int]:
        self.asked[text] += 1
        return [ord(c) for c in text]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_shipped_vocabularies_are_the_published_ones(encoding: str) -> None:
    file = VOCABULARY / hashlib.sha1(ADDRESS.format(encoding).encode()).hexdigest()
    assert hashlib.sha256(file.read_bytes()).hexdigest() == SHA256[encoding]


TABLE = VOCABULARY / "o200k_base.table"


def table_of_vocabulary() -> bytes:
    ranks: dict[bytes, int] = load_vocabulary("o200k_base")._mergeable_ranks  # type: ignore[attr-defined]
    by_hash = {token_hash(token): rank for token, rank in ranks.items()}
    assert len(by_hash) == len(ranks)
    return struct.pack(f"<{len(ranks)}Q", *sorted(by_hash)) + struct.pack(
        f"<{len(ranks)}I", *(by_hash[each] for each in sorted(by_hash))
    )


def test_the_table_holds_the_vocabulary() -> None:
    assert TABLE.read_bytes() == table_of_vocabulary()


def test_the_table_encodes_as_the_vocabulary_does() -> None:
    dice = random.Random(5)
    letters = [
        *map(chr, (*range(32, 127), 9, 10, 13, 28, 133, 160, 383, 0x300)),
        *"éßЖжمनम过濾器ガ😀’—½²",
    ]
    texts = ["".join(dice.choices(letters, k=60)) for _ in range(200)]
    assert list(map(open_encoder("o200k_base").encode_ordinary, texts)) == list(
        map(load_vocabulary("o200k_base").encode_ordinary, texts)
    )


def test_a_long_text_needs_the_vocabulary() -> None:
    assert COUNTER.count("hello " * MAX_TEXT) == MAX_TEXT + 1


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "text", ["hello world", "Filters — “quoted” 過濾器 😀", "x" * 10_000, "\ud800", " \n\t "]
)
def test_counts_equal_tiktokens(encoding: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(VOCABULARY))
    assert TokenCounter(encoding).count(text) == len(
        tiktoken.get_encoding(encoding).encode_ordinary(text)
    )


@pytest.mark.parametrize("blank", [" ", " \u00a0"])
def test_a_megabyte_of_white_space_is_counted(blank: str) -> None:
    assert COUNTER.count(blank * 1_000_000) > 1000


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_pieces_of_a_long_text_have_the_same_tokens(encoding: str) -> None:
    whole = load_vocabulary(encoding)
    parts = [
        "foo bar's ",
        "a\n/b\n\n  c\n",
        "過濾器。\n",
        "x's\n--\n//\n",
        "\r\n\t1 234 567",
        " é\u0301 ß\n",
        "<|endoftext|>\n_a _b",
        "!\n! \u2028\x1c\n",
        "I'LL\nit ",
    ]
    for seed, length in enumerate((1000, 10_000, 30_000)):
        text = "".join(random.Random(seed).choices(parts, k=length))
        assert TokenCounter(encoding).count(text) == len(whole.encode_ordinary(text))


def test_of_a_text_that_changes_only_new_lines_are_counted() -> None:
    encoder = Letters()
    counter = TokenCounter(load=lambda _: encoder)
    lines = [f"line {i:03} of a summary\n" for i in range(100)]
    counter.count("".join(lines))
    encoder.asked.clear()
    assert counter.count("".join([*lines, "a new line\n"])) == 100 * 22 + 11
    assert encoder.asked == {"a new line\n": 1}


def test_the_checksum_of_the_table_is_the_known_one() -> None:
    assert zlib.crc32(TABLE.read_bytes()) == CHECKSUMS["o200k_base"]


if __name__ == "__main__":
    TABLE.write_bytes(table_of_vocabulary())
