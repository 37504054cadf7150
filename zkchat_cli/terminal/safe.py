"""Nothing that a note, a model or a file name contains may run in the terminal.

Control characters are shown as pictures (an escape is seen as ␛), so that a hostile note is visible rather than silently altered, and bidi
overrides, which can make text read other than it is (CVE-2021-42574), as a mark.
"""

_PICTURES: dict[int, str] = {c: chr(0x2400 + c) for c in range(32) if chr(c) not in "\n\t"}
_PICTURES[0x7F] = "\u2421"
_PICTURES |= dict.fromkeys(range(0x80, 0xA0), "\ufffd")
_PICTURES |= dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, 0x200E, 0x200F], "\ufffd")
_PICTURES |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def neutralise(text: str) -> str:
    """`text` with every control character but newline and tab made visible and harmless; CRLF counts as a newline."""
    return text.replace("\r\n", "\n").translate(_PICTURES)
