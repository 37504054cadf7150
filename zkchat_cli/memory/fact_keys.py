"""Keys of facts: what a fact is about, and so which older fact it replaces.

The key of "NAME: VALUE" and "NAME = VALUE" is the name, and a new value replaces the old one. "NAME is VALUE" does so only for things that
have one value at a time, such as a deadline. In doubt both facts stay: the user can forget a fact too many, but cannot restore a lost one.
"""

import re
from collections.abc import Mapping
from itertools import chain, count

from zkchat_cli.text.words import STOPWORDS, fold

MAX_KEY = 48
MAX_NAME_WORDS = 6

_ENTRY = re.compile(r"([^\s:=：][^:=：\n]{0,80}?)\s*(?::(?=\s)|：|\s=\s)\s*\S")
_IS = re.compile(r"([^\s.!?][^.!?\n]{0,80}?)(?:\s+(?:is|are)\s+|是)\S", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:(?:the|a|an|my|our|your|please|remember|that)\s+)+", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LABELS = frozenset(
    "note todo reminder remember idea important warning tip hint fyi ps nb attention question fact task 注意 备注 待办".split()
)
"""Labels before many different facts."""
_SINGLE_VALUED = frozenset(
    """name number phone mobile email address password pin birthday age height weight size colour color price cost rent salary fee budget
    deadline date start end location capital username url version status owner manager goal limit language timezone amount quantity model
    favourite favorite preferred current""".split()
)
_SINGLE_VALUED_CHINESE = tuple("密码 电话 号码 邮箱 地址 生日 名字 年龄 身高 体重 价格 日期 时间 版本 状态".split())


def suggest_key(content: str, facts: Mapping[str, str]) -> str:
    """A key for a fact: its name, which may be that of an older fact, or a new key made of its first words. `facts`: the others by key."""
    if name := _fact_name(content):
        return name
    first = slugify(" ".join([word for word in _words(content[:2000]) if word not in STOPWORDS][:MAX_NAME_WORDS])) or "fact"
    numbered = (f"{first[: MAX_KEY - 4].strip('-')}-{n}" for n in count(2))
    return next(key for key in chain([first], numbered) if facts.get(key, content) == content)


def slugify(text: str) -> str:
    """The words of a text without case and accents, joined by hyphens; at most `MAX_KEY` characters."""
    return "-".join(_words(text[: 4 * MAX_KEY]))[:MAX_KEY].strip("-")


def _fact_name(content: str) -> str | None:
    entry = _ENTRY.match(content)
    match = entry or _IS.match(content)
    words = [word for word in _words(_ARTICLE.sub("", match[1])) if word not in ("the", "of")] if match else []
    if not words or len(words) > MAX_NAME_WORDS or words[0] in _LABELS or all(word in STOPWORDS for word in words):
        return None
    single = not _SINGLE_VALUED.isdisjoint((words[0], words[-1])) or words[-1].endswith(_SINGLE_VALUED_CHINESE)
    return slugify(" ".join(words)) if entry or single else None


def _words(text: str) -> list[str]:
    return [re.sub("['’]", "", word) for word in _WORD.findall(fold(text))]
