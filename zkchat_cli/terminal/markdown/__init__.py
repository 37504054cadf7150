"""Markdown on the screen, while it is still being said.

`Sheet` is fed an answer piece by piece and gives rows of styled pieces: what is final, once, and the rest as it would be if nothing
followed. How the answer was cut into pieces never shows in what is final. It is lenient where models are sloppy and Markdown is not: a line
that ends stays a line, an indented item is one of the list above it, and what nothing closes is what it looks like.

    pieces.py  styled text, its width       flow.py       words on rows             inline.py  emphasis, code, links, citations
    blocks.py  which line is what           grammar.py    how lines begin          table.py   columns, or records
    fence.py   blocks of code                highlight.py  their colours           glyphs.py  what is drawn besides letters
"""

from zkchat_cli.terminal.markdown.blocks import Sheet
from zkchat_cli.terminal.markdown.pieces import NEWLINE, Piece

__all__ = ["NEWLINE", "Piece", "Sheet"]
