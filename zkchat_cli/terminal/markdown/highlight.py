"""The colours of code, line by line, in time that is linear in the code."""

from typing import Any

from zkchat_cli.terminal.markdown.pieces import Piece

LONGEST_LINE = 1000
"""Characters; what is longer was not written to be read, and some expressions of pygments take their time with it."""
_NOT_OURS = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What a lexer may raise that was written for whole files."""
_LOOKS = (
    ("Token.Comment", "code-comment"),
    ("Token.Keyword", "code-keyword"),
    ("Token.Operator.Word", "code-keyword"),
    ("Token.Name.Function", "code-name"),
    ("Token.Name.Class", "code-name"),
    ("Token.Name.Tag", "code-keyword"),
    ("Token.Name.Decorator", "code-name"),
    ("Token.Name.Attribute", "code-name"),
    ("Token.Literal.String", "code-string"),
    ("Token.Literal.Number", "code-number"),
    ("Token.Generic.Deleted", "code-deleted"),
    ("Token.Generic.Inserted", "code-string"),
    ("Token.Generic.Heading", "code-keyword"),
)


class Highlighter:
    """Code in one language; where it is not known, or says nothing, as it is."""

    def __init__(self, language: str) -> None:
        self._lexer: Any = None
        self._stack: tuple[str, ...] = ("root",)
        self._looks: dict[Any, str] = {}
        if language:
            from pygments.lexers import get_lexer_by_name  # 20 ms, paid with the first code that names its language
            from pygments.util import ClassNotFound

            try:
                self._lexer = get_lexer_by_name(language, stripnl=False, ensurenl=True)
            except ClassNotFound:
                self._lexer = None

    def line(self, text: str) -> list[Piece]:
        """The line that follows those before, without its end."""
        if self._lexer is None or not text.strip() or len(text) > LONGEST_LINE:
            return [Piece(text)]
        try:
            pieces = self._lexed(text + "\n")
        except _NOT_OURS:
            self._lexer = None
            return [Piece(text)]
        made = "".join(piece.text for piece in pieces)
        return pieces if made == text else [Piece(text)]

    def _lexed(self, text: str) -> list[Piece]:
        from pygments.lexer import ExtendedRegexLexer, LexerContext, RegexLexer

        lexer = self._lexer
        if isinstance(lexer, RegexLexer) and type(lexer).get_tokens_unprocessed is RegexLexer.get_tokens_unprocessed:
            context = LexerContext(text, 0, [*self._stack])
            tokens = [(kind, value) for _, kind, value in ExtendedRegexLexer.get_tokens_unprocessed(lexer, context=context)]
            self._stack = tuple(context.stack)
        else:
            tokens = [(kind, value) for _, kind, value in lexer.get_tokens_unprocessed(text)]
        pieces: list[Piece] = []
        for kind, value in tokens:
            style = self._look(kind)
            value = value.replace("\n", "")
            if not value:
                continue
            if pieces and (pieces[-1].style == style or not value.strip()):
                pieces[-1] = Piece(pieces[-1].text + value, pieces[-1].style)
            else:
                pieces.append(Piece(value, style))
        return pieces

    def _look(self, kind: Any) -> str:
        if kind not in self._looks:
            name = str(kind)
            self._looks[kind] = next((style for prefix, style in _LOOKS if name.startswith(prefix)), "")
        return self._looks[kind]
