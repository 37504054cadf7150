"""Takes the thoughts and tool calls out of an answer's text. Pure.

Servers without a parser for their model send its marks as text: `<think>`, `[THINK]`, the channels
of gpt-oss, `<tool_call>`. A mark counts outside of code only, and it may be cut by the pieces in
which the text comes.
"""

import re
from typing import Literal, NamedTuple

Kind = Literal["text", "reasoning", "call", "json", "withdrawn"]

_TAGS = ("think", "thinking", "thought", "reasoning")
_CLOSED_BY = {
    **{f"<{tag}>": (f"</{tag}>",) for tag in _TAGS},
    "[THINK]": ("[/THINK]",),
}
"""The marks that begin a thought, with those that end it."""
_LONE_ENDS = tuple(end for ends in _CLOSED_BY.values() for end in ends)
_CALLS_CLOSED_BY = {
    "<tool_call>": ("</tool_call>",),
    "<function_call>": ("</function_call>",),
    "[TOOL_CALLS]": (),
    "<|python_tag|>": ("<|eom_id|>", "<|eot_id|>"),
}
"""The marks that begin a tool call; one without an end takes the rest of the text."""
_CHANNEL = "<|channel|>"
_MESSAGE = "<|message|>"
_START = "<|start|>"
# The marks of gpt-oss that end a message, and after which nothing of it follows
_CHANNEL_ENDS = ("<|end|>", "<|return|>", "<|call|>", _START, _CHANNEL)
_MARKS = (*_CLOSED_BY, *_LONE_ENDS, *_CALLS_CLOSED_BY, *_CHANNEL_ENDS)
_MARK = re.compile("|".join(map(re.escape, sorted(_MARKS, key=len, reverse=True))))
_FENCE = re.compile(r"[\s>*+-]*(?:\d+[.)]\s*)?(?P<marks>`{3,}(?=[^`]*$)|~{3,})")
# What a line that may turn out to be such a fence begins with: its end may not have come yet
_FENCE_BEGINNING = re.compile(r"[\s>*+-]*(?:\d+[.)]\s*)?(?:`{3}|~{3})")
_JSON_BEGINNING = re.compile(r"\{|\[\s*\{")
_JSON_MAY_BEGIN = re.compile(r"\[\s*")
# Columns from which a line is code
_CODE_INDENT = 4
# Most characters between `<|channel|>` and `<|message|>`
_LONGEST_HEADER = 200
# Characters that are kept of the beginning and of the end of a long line
_KEPT_OF_LINE = 200
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Piece(NamedTuple):
    """A part of an answer. A `call` is the text between two marks, `json` a whole answer that may
    be a call. After `withdrawn`, all text of the answer before it was a thought.
    """

    kind: Kind
    text: str


class MarkSplitter:
    """Splits the text of one answer, piece by piece. With `holds_json`, an answer that begins as
    JSON is kept back until its end.
    """

    def __init__(self, *, holds_json: bool = False) -> None:
        self._holds_json = holds_json
        self._kind: Kind = "text"
        # The marks that end the current thought or call
        self._ends: tuple[str, ...] = ()
        # What has come and may belong to a mark
        self._held = ""
        # The current line of the text so far, and the marks of the block of code that it is in
        self._line = ""
        self._fence = ""
        # Whether nothing but thoughts came before
        self._is_beginning = True
        # Whether white space is left out, as at the beginning
        self._skips_space = True
        self._has_closed_thought = False
        # The parts of a call, which is given as a whole
        self._kept: list[str] = []
        self._kept_size = 0

    def feed(self, text: str) -> list[Piece]:
        """The pieces that are certain after this further text."""
        found: list[Piece] = []
        # Line by line: a long text would be copied for each of its lines
        for line in _LINE.findall(text):
            self._held += line
            while self._step(found, ended=False):
                pass
        return found

    def end(self) -> list[Piece]:
        """The pieces that remain at the end of the answer."""
        found: list[Piece] = []
        while self._step(found, ended=True):
            pass
        self._give(found, len(self._held))
        self._give_kept(found)
        return found

    def take_kept_size(self) -> int:
        """How many characters have been kept for a call since this was asked last."""
        size = self._kept_size
        self._kept_size = 0
        return size

    def _step(self, found: list[Piece], *, ended: bool) -> bool:
        """Add the next piece; whether there may be another."""
        if self._kind == "text":
            return self._read_text(found, ended=ended)
        if self._kind == "json":
            self._give(found, len(self._held))
            return False
        return self._read_marked(found, ended=ended)

    def _read_marked(self, found: list[Piece], *, ended: bool) -> bool:
        """Read a thought or a call up to the mark that ends it."""
        end = _first_of(self._held, self._ends)
        if end is None:
            self._give(found, len(self._held) if ended else _certain(self._held, self._ends))
            return False
        self._give(found, end.start())
        self._give_kept(found)
        # The next message of gpt-oss begins with this mark
        if end[0] not in (_START, _CHANNEL):
            self._held = self._held[len(end[0]) :]
        self._has_closed_thought = self._has_closed_thought or self._kind == "reasoning"
        self._begin("text")
        return True

    def _give(self, found: list[Piece], size: int) -> None:
        """Add so much of what is held as a piece, or keep it for the whole."""
        if size and self._kind in ("call", "json"):
            self._kept.append(self._held[:size])
            self._kept_size += size
        elif size:
            found.append(Piece(self._kind, self._held[:size]))
        self._held = self._held[size:]

    def _give_kept(self, found: list[Piece]) -> None:
        if self._kept:
            found.append(Piece(self._kind, "".join(self._kept)))
        self._kept = []

    def _begin(self, kind: Kind, ends: tuple[str, ...] = ()) -> None:
        self._kind = kind
        self._ends = ends
        self._line = ""
        self._skips_space = True

    def _read_text(self, found: list[Piece], *, ended: bool) -> bool:
        """Read text up to the end of a line or a mark."""
        if self._skips_space:
            self._held = self._held.lstrip()
        if not self._held:
            return False
        if self._holds_json and self._is_beginning:
            if _JSON_BEGINNING.match(self._held):
                self._kind = "json"
                return False
            if _JSON_MAY_BEGIN.fullmatch(self._held) and not ended:
                return False
        part, newline, _ = self._held.partition("\n")
        part += newline
        is_code = bool(self._fence or _FENCE_BEGINNING.match(self._line + part))
        mark = None if is_code else self._find_mark(part, ended=ended)
        if mark is not None:
            return self._take_mark(found, mark, ended=ended)
        is_whole = ended or bool(newline) or is_code
        size = len(part) if is_whole else _certain(part, _MARKS, lookahead=1)
        self._give_text(found, size)
        return bool(newline and self._held)

    def _give_text(self, found: list[Piece], size: int) -> None:
        given = self._held[:size]
        self._give(found, size)
        if given:
            self._is_beginning = False
            self._skips_space = False
        self._line = _shortened(self._line + given)
        if self._line.endswith("\n"):
            self._end_line()

    def _end_line(self) -> None:
        """Note whether the line has begun or ended a block of code."""
        stripped = self._line.strip().lstrip("> ")
        fence = _FENCE.match(self._line.rstrip("\n"))
        if self._fence:
            if (
                stripped
                and not stripped.strip(self._fence[0])
                and len(stripped) >= len(self._fence)
            ):
                self._fence = ""
        elif fence is not None:
            self._fence = fence["marks"]
        self._line = ""

    def _find_mark(self, part: str, *, ended: bool) -> re.Match[str] | None:
        """The first mark in a part of a line that counts. A mark that depends on the next
        character does not count before that has come.
        """
        for mark in _MARK.finditer(part):
            before = self._line + part[: mark.start()]
            after = part[mark.end() : mark.end() + 1]
            if before.count("`") % 2:
                continue
            if mark[0] in _CHANNEL_ENDS:
                return mark
            if mark[0] not in _LONE_ENDS:
                if not before.strip() and len(before.expandtabs()) < _CODE_INDENT:
                    return mark
            elif (after or ended) and self._ends_thought(before, after):
                return mark
        return None

    def _ends_thought(self, before: str, after: str) -> bool:
        """Whether a mark without a beginning ends a thought; in prose it has spaces around it."""
        is_word = before.endswith(" ") and bool(before.strip()) and after == " "
        return not (self._has_closed_thought or is_word)

    def _take_mark(self, found: list[Piece], mark: re.Match[str], *, ended: bool) -> bool:
        self._give_text(found, mark.start())
        rest = self._held[len(mark[0]) :]
        if mark[0] in (_CHANNEL, _START):
            return self._begin_channel(found, rest, ended=ended)
        self._held = rest
        if mark[0] in _CLOSED_BY:
            self._begin("reasoning", _CLOSED_BY[mark[0]])
        elif mark[0] in _CALLS_CLOSED_BY:
            self._begin("call", _CALLS_CLOSED_BY[mark[0]])
        elif mark[0] in _LONE_ENDS:
            found.append(Piece("withdrawn", ""))
            self._has_closed_thought = True
            self._is_beginning = True
            self._begin("text")
        return True

    def _begin_channel(self, found: list[Piece], rest: str, *, ended: bool) -> bool:
        """Begin a message of gpt-oss: a thought, a call, or the answer. Text that only has its mark
        remains text.
        """
        header, message, content = rest.partition(_MESSAGE)
        if not message and len(header) < _LONGEST_HEADER and not ended:
            return False
        if not message or len(header) >= _LONGEST_HEADER:
            self._give_text(found, len(_CHANNEL) if self._held.startswith(_CHANNEL) else 1)
            return bool(self._held)
        self._held = content
        tool = re.search(r"to=functions\.([\w.-]+)", header)
        if tool is not None:
            # In the form of the other marks
            self._held = f"{tool[1]}[ARGS]{content}"
            self._begin("call", _CHANNEL_ENDS)
        elif header.rpartition(_CHANNEL)[2].strip().startswith("final"):
            self._begin("text")
        else:
            self._begin("reasoning", _CHANNEL_ENDS)
        return True


def _shortened(line: str) -> str:
    """A line without its middle, but with as many backticks as matter: none or one."""
    middle = line[_KEPT_OF_LINE:-_KEPT_OF_LINE]
    if not middle:
        return line
    return line[:_KEPT_OF_LINE] + "`" * (middle.count("`") % 2) + line[-_KEPT_OF_LINE:]


def _first_of(text: str, marks: tuple[str, ...]) -> re.Match[str] | None:
    """The first of some marks in a text."""
    return re.search("|".join(map(re.escape, marks)), text) if marks else None


def _certain(text: str, marks: tuple[str, ...], *, lookahead: int = 0) -> int:
    """How many characters of a text cannot belong to a mark that continues after it, or that needs
    so many characters behind it.
    """
    longest = max(map(len, marks), default=1) + lookahead
    if "<" not in text[-longest:] and "[" not in text[-longest:]:
        return len(text)
    for start in range(max(0, len(text) - longest + 1), len(text)):
        tail = text[start:]
        if any(mark.startswith(tail) or (lookahead and tail == mark) for mark in marks):
            return start
    return len(text)
