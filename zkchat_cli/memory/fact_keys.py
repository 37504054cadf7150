"""The keys under which facts are stored.

The key of "NAME: VALUE" and "NAME = VALUE" is the name, and a new value replaces the old one. "NAME
is VALUE" does so only for things that have one value at a time, such as a deadline. In doubt both
facts stay: the user can forget a fact too many, but cannot restore a lost one.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from itertools import count

from zkchat_cli.errors import UsageError, nearest_names
from zkchat_cli.models.facts import Fact
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import STOPWORDS, written_words

MAX_KEY = 48
MAX_NAME_WORDS = 6
# Characters at the beginning of a fact in which a key is looked for
_MAX_READ = 2_000
# Characters for the hyphen and the number that distinguish a key from one that is in use
_NUMBER_LENGTH = 4
# Similar keys that an error suggests
_NEAREST_KEYS = 3
# Keys that an error names
_NAMED_KEYS = 5
# Similarity, from 0 to 1, from which on a key is suggested
_SIMILAR_KEY = 0.4
_ENTRY = lazy_pattern(r"([^\s:=：][^:=：\n]{0,80}?)\s*(?::(?=\s)|：|\s=\s)\s*\S")
_IS = lazy_pattern(r"([^\s.!?][^.!?\n]{0,80}?)(?:\s+(?:is|are)\s+|是)\S", re.IGNORECASE)
_ARTICLE = lazy_pattern(r"^(?:(?:the|a|an|my|our|your|please|remember|that)\s+)+", re.IGNORECASE)
# Labels before many different facts
_LABELS = frozenset(
    """
    note todo reminder remember idea important warning tip hint fyi ps nb attention question fact
    task 注意 备注
    """.split()
)
_SINGLE_VALUED = frozenset(
    """
    name number phone mobile email address password pin birthday age height weight size colour color
    price cost rent salary fee budget deadline date start end location capital username url version
    status owner manager goal limit language timezone amount quantity model favourite favorite
    preferred current
    """.split()
)
_SINGLE_VALUED_CHINESE = tuple(
    "密码 电话 号码 邮箱 地址 生日 名字 年龄 身高 体重 价格 日期 时间 版本 状态".split()
)


def suggest_key(content: str, facts: Mapping[str, str]) -> str:
    """A key for a fact: its name, which may be that of an older fact, or a new key made of its
    first words. `facts` are the contents of the other facts by their keys.
    """
    name = _find_name(content)
    if name:
        return name
    first = _first_words_key(content)
    if facts.get(first, content) == content:
        return first
    beginning = first[: MAX_KEY - _NUMBER_LENGTH].strip("-")
    for number in count(2):
        key = f"{beginning}-{number}"
        if facts.get(key, content) == content:
            return key
    raise AssertionError("there are more numbers than facts")


def _first_words_key(content: str) -> str:
    """A key made of the first words of a fact that say something."""
    beginning = _words(content[:_MAX_READ])
    words = [word for word in beginning if word not in STOPWORDS]
    return slugify(" ".join(words[:MAX_NAME_WORDS])) or "fact"


def _find_name(content: str) -> str:
    """The key made of the name that a fact gives a value to; empty if there is no name, or if it
    can have several values at a time.
    """
    entry = _ENTRY.match(content)
    match = entry or _IS.match(content)
    if match is None:
        return ""
    name = _ARTICLE.sub("", match[1])
    words = [word for word in _words(name) if word not in ("the", "of")]
    if len(words) > MAX_NAME_WORDS or STOPWORDS.issuperset(words) or words[0] in _LABELS:
        return ""
    if entry is None and not _has_one_value(words):
        return ""
    return slugify(" ".join(words))


def _has_one_value(words: list[str]) -> bool:
    """Whether the name with these words has one value at a time."""
    last = words[-1]
    if words[0] in _SINGLE_VALUED or last in _SINGLE_VALUED:
        return True
    return last.endswith(_SINGLE_VALUED_CHINESE)


def slugify(text: str) -> str:
    """The words of a text without case and accents, joined by hyphens; at most `MAX_KEY`
    characters.
    """
    return "-".join(_words(text[: 4 * MAX_KEY]))[:MAX_KEY].strip("-")


def _words(text: str) -> list[str]:
    return [re.sub("['’]", "", word) for word in written_words(fold(text))]


def find_fact(key: str, facts: Sequence[Fact]) -> Fact:
    """The fact with this key, or the only one with a key that begins so. Raises UsageError, which
    names the nearest keys, if there is no such fact or several.
    """
    known = {fact.key: fact for fact in facts}
    prefix = key if key in known else slugify(key)
    if prefix in known:
        return known[prefix]
    matches: list[str] = []
    if prefix:
        matches = [each for each in known if each.startswith(prefix)]
    if len(matches) == 1:
        return known[matches[0]]
    if matches:
        raise _no_such_fact(f"{prefix!r} begins {len(matches)} keys", matches)
    near = difflib.get_close_matches(prefix, known, n=_NEAREST_KEYS, cutoff=_SIMILAR_KEY)
    raise _no_such_fact(f"nothing is remembered as {prefix!r}", near or list(known))


def _no_such_fact(problem: str, nearest: Sequence[str]) -> UsageError:
    hint = nearest_names(nearest[:_NAMED_KEYS], "Nothing has been remembered yet.", label="Nearest")
    return UsageError(problem, hint)
