"""Keys of facts: what a fact is about, and which older fact it replaces.

The key of "NAME: VALUE", "NAME = VALUE" and "NAME is VALUE" is the name, otherwise the first words. A newer fact replaces an older one of
the same name only if the thing has one such value at a time: a deadline, a password, a number with the same unit. In doubt both stay: the
user can forget a fact too many, but cannot restore a lost one. The word lists are English and Chinese; "NAME: VALUE" works in any language.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from zkchat_cli.text.words import STOPWORDS, fold

MAX_KEY = 48
MAX_READ = 2_000
"""Characters of a fact that its key is made from."""
MAX_NAME_WORDS, MAX_VALUE_WORDS = 6, 4

_ENTRY = re.compile(r"([^\s:=：][^:=：\n]{0,80}?)\s*(?::(?=\s)|：|\s=\s)\s*(\S.*)", re.DOTALL)
_IS = re.compile(r"(\S[^.!?\n]{0,80}?)(?:\s+(?:is|are|was|were)\s+|是)([^\n]{1,60})$", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ARTICLE = re.compile(r"^(?:(?:the|a|an|my|our|your|his|her|their|that|this|please|remember|note)\s+)+(?=\S)", re.IGNORECASE)
_LABELS = frozenset(
    "note notes todo reminder remember idea important warning tip hint fyi ps nb attention question fact task monday tuesday wednesday "
    "thursday friday saturday sunday 注意 备注 提醒 待办".split()
)
"""Labels that stand before many different facts."""
_SINGLE_VALUED = frozenset(
    """name surname nickname number phone telephone mobile email mail address street password passphrase passcode pin code birthday
    birthdate anniversary age height weight size length width depth colour color price cost rent salary fee rate budget deadline date day
    time start end place location capital currency username login url website version status owner author manager boss editor goal limit
    threshold default language timezone temperature distance amount total count quantity iban balance model brand title topic nationality
    favourite favorite preferred current next last main only best first new""".split()
)
_SINGLE_VALUED_CHINESE = tuple("密码 电话 号码 邮箱 地址 生日 名字 姓名 年龄 身高 体重 颜色 价格 日期 时间 地点 首都 版本 状态".split())


@dataclass(frozen=True, slots=True)
class FactKey:
    """A fact read as NAME and VALUE. `is_entry`: it was written as "NAME: VALUE"."""

    name: tuple[str, ...]
    value: str
    is_entry: bool = False

    @property
    def is_single_valued(self) -> bool:
        return not _SINGLE_VALUED.isdisjoint((self.name[0], self.name[-1])) or self.name[-1].endswith(_SINGLE_VALUED_CHINESE)


def suggest_key(content: str, facts: Mapping[str, str]) -> str:
    """A key for a fact: that of the fact it replaces, otherwise a new one. `facts` are the other facts by key."""
    replaced = next((key for key, other in facts.items() if contradicts(content, other, key)), None)
    if replaced is not None:
        return replaced
    parsed = _parse(content)
    words = parsed.name if parsed else [word for word in _words(content[:MAX_READ]) if word not in STOPWORDS][:MAX_NAME_WORDS]
    first = slugify(" ".join(words)) or "fact"
    keys = (first, *(f"{first}-{n}" for n in range(2, len(facts) + 3)))
    return next(key for key in keys if facts.get(key, content) == content)


def contradicts(newer: str, older: str, key: str = "") -> bool:
    """Whether the newer fact replaces the older one. An older fact without a name has that of its `key`."""
    if newer == older:
        return False
    new, old = _parse(newer), _parse(older) or (FactKey(tuple(key.split("-")), older, is_entry=True) if key else None)
    if new is None or old is None or new.name != old.name:
        return False
    return (
        new.is_single_valued or (new.is_entry and old.is_entry) or (_unit(new.value) is not None and _unit(new.value) == _unit(old.value))
    )


def slugify(text: str) -> str:
    """The words of a text without case and accents, joined by hyphens; at most `MAX_KEY` characters."""
    return "-".join(_words(text[: 4 * MAX_KEY]))[:MAX_KEY].strip("-")


@lru_cache(maxsize=8192)
def _parse(content: str) -> FactKey | None:
    entry = _ENTRY.match(content)
    match = entry or _IS.match(content)
    if match is None:
        return None
    words = _words(_ARTICLE.sub("", match[1], count=1))
    name = tuple(word for word in words if word not in ("the", "of"))  # "the deadline of the roof" is "deadline roof"
    if not name or len(name) > MAX_NAME_WORDS or all(word in STOPWORDS for word in name) or name[0] in _LABELS:
        return None
    value = match[2].strip().rstrip(".!")
    return FactKey(name, value, is_entry=entry is not None) if entry or len(value.split()) <= MAX_VALUE_WORDS else None


def _unit(value: str) -> tuple[str, ...] | None:
    """What a number counts, such as "cm tall"; None if the value has no number."""
    words = _words(value)
    return tuple(re.sub(r"\d+", "", word) for word in words if not word.isdigit()) if any(map(str.isdigit, value)) else None


def _words(text: str) -> list[str]:
    return [re.sub("['’]", "", word) for word in _WORD.findall(fold(text))]
