"""What a fact is about, and which older one it corrects.

A fact is kept under a key. A newer one takes the place of an older only when both cannot hold: they name the same thing, and give it values
of the same kind where it has only one. "The anvil is heavy" corrects nothing that "the anvil is red" says; "the roof's colour is blue"
corrects "the roof's colour is red". In doubt both stay: a fact too many is seen and forgotten, one that was lost is not.

The tables are for people who write English or Chinese; in any other language "NAME: VALUE" is corrected.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from zkchat_cli.text.words import STOPWORDS, fold

LONGEST_KEY = 48
LONGEST_READ = 2_000
"""Characters of a fact that its key is made from."""
MOST_NAMING = 6
"""Words that may name what a fact is about, in "NAME is VALUE", and of which a key is made."""
MOST_VALUE = 4

Kind = Literal["number", "time", "colour", "name", "place", "quality"]
"""What sort of value something is given. Of qualities it may have many."""

_NAMED = re.compile(r"([^\s:=：][^:=：\n]{0,80}?)\s*(?::(?=\s)|：|\s=\s)\s*(\S.*)", re.DOTALL)
_IS = re.compile(r"(\S[^.!?\n]{0,80}?)(?:\s+(?:is|are|was|were)\s+|是)([^\n]{1,60})$", re.IGNORECASE)
_DOES = re.compile(
    r"(\S[^.!?\n]{0,60}?\s(?:lives?\s(?=in\b)|works?\s(?=(?:in|at|for)\b)|(?:starts?|ends?)\s(?=(?:at|on)\b)|(?:opens?|closes?)\s(?=at\b)|"
    r"(?:costs?|weighs?)\s))\s{0,8}(\S[^\n]{0,60})$",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"(?:in|at|on|for)\s+", re.IGNORECASE)
_SHORTENED = ((re.compile(r"\bcan(?:['’]t|not\b)", re.IGNORECASE), "can not"), (re.compile(r"(?<=\w)n['’]t\b", re.IGNORECASE), " not"))
_NOT = re.compile(r"\b(?:not|never|no longer)\b|不", re.IGNORECASE)
_DO = frozenset(("do", "does", "did"))
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LEADING = re.compile(r"^(?:(?:the|a|an|my|our|your|his|her|their|that|this|please|remember|note)\s+)+(?=\S)", re.IGNORECASE)
_NO_NAMES = frozenset(
    "note notes todo reminder remember idea important warning tip hint fyi ps nb attention question fact task monday tuesday wednesday "
    "thursday friday saturday sunday 注意 备注 提醒 待办".split()
)
"""Labels under which there may be many things."""
_SINGLE = frozenset(
    """name surname nickname number phone telephone mobile email mail address street password passphrase passcode pin code birthday
    birthdate anniversary age height weight size length width depth colour color price cost rent salary fee rate budget deadline date day
    time start end place location capital currency username login url website version status owner author manager boss editor goal limit
    threshold default language timezone temperature distance amount total count quantity iban balance model brand title topic nationality
    """.split()
)
_SINGLE_IN_CHINESE = tuple("密码 电话 号码 邮箱 地址 生日 名字 姓名 年龄 身高 体重 颜色 价格 日期 时间 地点 首都 版本 状态".split())
"""Of these a thing has one."""
_ONLY = frozenset("favourite favorite preferred current next last main only best first new".split())
_COLOURS = frozenset(
    "red blue green yellow orange purple violet pink brown black white grey gray silver gold golden beige turquoise "
    "红色 蓝色 绿色 黄色 黑色 白色 灰色 紫色".split()
)
_TIMES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november "
    "december today tomorrow tonight noon midnight spring summer autumn fall winter morning afternoon evening am pm".split()
)
_PLACED = frozenset("in at on to near under above behind beside beneath inside outside".split())
_QUALITIES = re.compile(
    r"(?:a|an|the|very|too|quite|really|so|also|not|of|from|with|without|for|like|as)\b|\w{1,40}(?:ish|ese|ian|ean|ic)\b", re.IGNORECASE
)
_ADJECTIVES = frozenset("french german dutch swiss greek russian jewish muslim christian catholic protestant buddhist hindu".split())


@dataclass(frozen=True, slots=True)
class FactKey:
    """A fact as "NAME is VALUE". `labelled`: it was written "NAME: VALUE", as an entry of its own."""

    name: tuple[str, ...]
    value: str
    labelled: bool = False

    @property
    def single(self) -> bool:
        """Whether what is named can have but one value at a time."""
        heads = {self.name[-1]} if "of" not in self.name else {self.name[self.name.index("of") - 1]}
        return bool(heads & _SINGLE or _ONLY.intersection(self.name) or self.name[-1].endswith(_SINGLE_IN_CHINESE))


def suggest_key(content: str, taken: Mapping[str, str]) -> str:
    """The key of a fact for which nobody gave one; `taken` are the contents of the others by their keys.

    Of "NAME: VALUE", "NAME = VALUE" and "NAME is VALUE" it is the name, if both are short, else the first words; with a number where
    another fact begins alike that this one does not correct.
    """
    for key, other in taken.items():
        if contradicts(content, other, key):
            return key
    told = _told(content)
    first = slugify(" ".join(_plain(told.name))) if told else ""
    if not first:
        first = slugify(" ".join([word for word in _words(content[:LONGEST_READ]) if word not in STOPWORDS][:MOST_NAMING])) or "fact"
    keys = (first, *(f"{first}-{n}" for n in range(2, len(taken) + 3)))
    return next(key for key in keys if taken.get(key, content) == content)


def contradicts(newer: str, older: str, key: str = "") -> bool:
    """Whether the newer fact cannot hold beside the older one, whose key may tell what that is about."""
    said, before = _read(newer), _read(older)
    if said.bare == before.bare:
        return said.denies != before.denies
    new, old = said.told, before.told or (FactKey(tuple(key.split("-")), older, labelled=True) if key else None)
    if new is None or old is None or _plain(new.name) != _plain(old.name):
        return False
    if new.single or (new.labelled and old.labelled):
        return True
    kind = kind_of(new.value)
    return kind != "quality" and kind == kind_of(old.value) and _unit(new.value) == _unit(old.value)


def kind_of(value: str) -> Kind:
    """What sort of value it is; a quality, unless it is plainly something else."""
    words = _words(value)
    if _TIMES.intersection(words) or re.search(r"\d:\d\d|\d{4}-\d\d", value):
        return "time"
    if any(c.isdigit() for c in value):
        return "number"
    if len(words) == 1 and words[0] in _COLOURS:
        return "colour"
    if words and words[0] in _PLACED:
        return "place"
    if value[:1].isupper() and not _QUALITIES.match(value) and words[0] not in _ADJECTIVES:
        return "name"
    return "quality"


def slugify(text: str) -> str:
    """A text as a key: its words without case and accents, joined by hyphens, `LONGEST_KEY` characters at most."""
    return "-".join(_words(text[: 4 * LONGEST_KEY]))[:LONGEST_KEY].strip("-")


@dataclass(frozen=True, slots=True)
class _Read:
    """A fact as it is compared: by NAME and VALUE if it can be read so, without words that deny, and whether there are any."""

    told: FactKey | None
    bare: str
    denies: bool


@lru_cache(maxsize=8192)
def _read(content: str) -> _Read:
    text = content[:LONGEST_READ]
    for short, full in _SHORTENED:
        text = short.sub(full, text)
    bare = "".join(word.removesuffix("s") for word in _words(_NOT.sub("", text)) if word not in _DO)
    return _Read(_told(content) or _does(content), bare, _NOT.search(text) is not None)


def _told(content: str) -> FactKey | None:
    """The fact as an entry, or what something is."""
    if match := _NAMED.match(content):
        return _named(match[1], match[2], labelled=True)
    match = _IS.match(content)
    return _named(match[1], match[2]) if match else None


def _does(content: str) -> FactKey | None:
    """What something does, where it can do only one such thing: the verb belongs to the name."""
    match = _DOES.match(content)
    return _named(match[1], _PREPOSITION.sub("", match[2])) if match else None


def _named(naming: str, value: str, *, labelled: bool = False) -> FactKey | None:
    name = tuple(_words(_LEADING.sub("", naming, count=1)))
    if not _plain(name) or len(_plain(name)) > MOST_NAMING or all(word in STOPWORDS for word in name) or name[0] in _NO_NAMES:
        return None
    return FactKey(name, value.strip().rstrip(".!"), labelled) if labelled or len(value.split()) <= MOST_VALUE else None


def _plain(name: tuple[str, ...]) -> tuple[str, ...]:
    """What it names, however that is put: "the deadline of the roof" is "deadline roof"."""
    return tuple(word for word in name if word not in ("the", "of"))


def _unit(value: str) -> tuple[str, ...]:
    """What a number counts: "900 euros" and "170 cm" are no values of one thing."""
    return tuple(re.sub(r"\d+", "", word) for word in _words(value) if kind_of(value) == "number" and not word.isdigit())


def _words(text: str) -> list[str]:
    return [re.sub("['’]", "", word) for word in _WORD.findall(fold(text))]
