"""Make text from notes, models and file names harmless for a terminal.

Control characters become pictures (an escape is shown as ␛). Bidi overrides, which can make text read differently from what it is
(CVE-2021-42574), become a replacement mark.
"""

from zkchat_cli.text.patterns import lazy_pattern

_PICTURES: dict[int, str] = {c: chr(0x2400 + c) for c in range(32) if chr(c) not in "\n\t"}
_PICTURES[0x7F] = "\u2421"
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, 0x200E, 0x200F, 0x061C)
_PICTURES |= dict.fromkeys((*range(0x80, 0xA0), *_BIDI, *range(0xFFF9, 0xFFFC), *range(0xD800, 0xE000)), "\ufffd")
_ON_ONE_LINE = {ord("\n"): "\u240a", ord("\t"): "\u2409"}
_INVISIBLE = lazy_pattern(
    "(?:[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\U000e0000-\U000e00ff]"
    "|(?<=[\u200c\u200d])[\u200c\u200d]|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef])+"
)
"""Characters without width, which can hide whole sentences. A single joiner or variation selector is normal in emoji and some scripts;
several in a row are not."""


def sanitize(text: str) -> str:
    """`text` with every control character but newline and tab made visible and harmless; CRLF counts as a newline."""
    return text.replace("\r\n", "\n").translate(_PICTURES)


def sanitize_name(name: str) -> str:
    """A name on one line, with newlines and tabs visible too: a file name must not add lines to a list."""
    return sanitize(name).translate(_ON_ONE_LINE)


def reveal_invisible(text: str) -> str:
    """`sanitize` with invisible characters shown as `<U+200B>` or `<120 unseen characters>`, for changes that the user has to approve."""
    return _INVISIBLE.sub(lambda m: f"<U+{ord(m[0]):04X}>" if len(m[0]) == 1 else f"<{len(m[0])} unseen characters>", sanitize(text))
