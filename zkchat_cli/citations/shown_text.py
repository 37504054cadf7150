"""What a reader sees of the inline marks that hide or change words: comments, notes in the text,
pictures, raised and lowered characters, formulas. The lines stay where they are.
"""

import re

from zkchat_cli.markdown import inline
from zkchat_cli.text.patterns import lazy_pattern

_MARKS = ("%%", "<!--", "^", "![", "~", "$")
# An embed of a file that is no note; an embedded note is shown by its name
_FILE = r"\[\[[^\[\]|#\n]{1,300}?\.[A-Za-z0-9]{3,4}[|#\]]"
_HIDDEN_OR_CHANGED = lazy_pattern(
    r"(?P<code>^[ \t>]*+(?:```|~~~)[^\n]*+(?:\n(?![ \t>]*+(?:```|~~~))[^\n]*+)*+"
    r"|`[^`\n]*+`|\\[$^~%!])"
    r"|(?P<hidden>%%(?:[^%]++|%(?!%))*+%%|<!--(?:[^-]++|-(?!->))*+-->"
    r"|\^\[(?:[^\[\]\n]++|\[\[[^\[\]\n]*+\]\]|\[[^\[\]\n]*+\])*+\]"
    rf"|!(?:{inline.LOOSE_LINK}|{inline.REFERENCE_LINK}|(?={_FILE}){inline.WIKILINK}))"
    r"|(?<=[\w)\]])(?P<shift>[\^~])(?P<shifted>[^\s^~$`]{1,12})(?P=shift)(?!~)"
    rf"|(?P<math>\$\$[^$]++\$\$|{inline.MATH})",
    re.MULTILINE,
)
_COMMAND = lazy_pattern(r"\\([A-Za-z]+|[^A-Za-z])[ ]?")
_FRACTION = lazy_pattern(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_GROUP = lazy_pattern(r"\\(?:text|mathrm|mathbf|mathit|operatorname|textbf|textit)\{([^{}]*)\}")
_BRACES = lazy_pattern(r"\{([^{}]*)\}")
_OPERATORS = frozenset("×·÷±≈~≤≥≠→")
_SYMBOLS = {
    "times": "×",
    "cdot": "·",
    "div": "÷",
    "pm": "±",
    "approx": "≈",
    "sim": "~",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "ne": "≠",
    "neq": "≠",
    "to": "→",
    "rightarrow": "→",
    "circ": "°",
    "degree": "°",
    "infty": "∞",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "Delta": "Δ",
    "lambda": "λ",
    "mu": "μ",
    "pi": "π",
    "sigma": "σ",
    "Omega": "Ω",
    "omega": "ω",
    "%": "%",
    "$": "$",
    "&": "&",
    "#": "#",
    "_": "_",
    ",": " ",
    ";": " ",
    ":": " ",
    " ": " ",
    "!": "",
    "quad": " ",
    "left": "",
    "right": "",
}


def show_inline(text: str, *, quoted: bool = False) -> str:
    """The text without what is hidden, and with formulas in plain characters; code stays. In a
    `quoted` text, which is what a reader sees, only pictures are hidden.
    """
    if not any(mark in text for mark in _MARKS):
        return text

    def shown(found: re.Match[str]) -> str:
        is_seen = quoted and found["hidden"] and not found[0].startswith("!")
        return found[0] if is_seen else _shown(found)

    return _HIDDEN_OR_CHANGED.sub(shown, text)


def _shown(found: re.Match[str]) -> str:
    if found["code"]:
        return found[0]
    if found["hidden"]:
        return "\n" * found[0].count("\n") or " " * found[0].startswith("!")
    if found["math"]:
        return _show_formula(found["math"].strip("$"))
    if not found.string[found.start() - 1].isdigit():
        return found["shifted"]
    # A raised digit behind another is a power, not a longer number
    return ("^" if found["shift"] == "^" else "_") + found["shifted"]


def _show_formula(formula: str) -> str:
    """A formula in plain characters, as far as it has any: `3{,}000`, `3 \\times 10^{8}`."""
    plain = _GROUP.sub(r"\1", _FRACTION.sub(r"\1/\2", formula))
    plain = _BRACES.sub(r"\1", plain).replace(r"^\circ", "°")
    return _COMMAND.sub(lambda command: _show_command(command[0], command[1]), plain)


def _show_command(written: str, name: str) -> str:
    """The character of a command, with the space behind it unless that only ends its name."""
    symbol = _SYMBOLS.get(name)
    if symbol is None:
        return written
    is_between = symbol in _OPERATORS and written.endswith(" ")
    return f"{symbol} " if is_between else symbol
