"""The transcript: a part of the conversation in the HTML of exports, and below it the streamed
answer.

Only some turns are in the document at once, so that a conversation of 10,000 turns opens and
scrolls as fast as a short one. Earlier and later ones replace them when the user scrolls to an end.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QTextBlock, QTextCursor

from zkchat_cli.exporters import html
from zkchat_cli.exporters.html.markdown import render_markdown
from zkchat_cli.gui.styled_browser import StyledBrowser
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.views.sources import SourceItem, turn_source_items

# Number of turns in the document
PAGE = 24
# Number of turns by which the page moves
STEP = PAGE // 2
# Milliseconds between two drawings of a streamed answer
DRAW_INTERVAL = 60
# Characters at the end of a streamed answer that may still change; earlier ones are drawn once
SETTLED = 2000
# Largest distance from the end, in pixels, at which the view follows a streamed answer
FOLLOW_WITHIN = 40
# The beginning of the name of each turn's anchor
_TURN = "turn-"
_UNSEEN = re.compile(r'<span class="unseen">[^<]*</span>')
_SOURCE = re.compile(r"source-(?P<turn>\d+)\.\d+-(?P<source>\d+)")


class RenderedTurn(NamedTuple):
    """A turn as HTML, and its sources."""

    html: str
    sources: list[SourceItem]


class TranscriptPage(NamedTuple):
    """Some turns of a conversation that has `turn_count` turns. Turns are numbered from 1."""

    first: int
    turns: Sequence[RenderedTurn]
    turn_count: int

    @property
    def last(self) -> int:
        """The number of the last turn of the page."""
        return self.first + len(self.turns) - 1


def render_page(
    exchanges: Sequence[Sequence[ZkChatMessage]], first: int | None = None
) -> TranscriptPage:
    """The turns from `first` on, or by default the last ones.

    Call it on a worker's thread: it takes up to 0.1 s.
    """
    start = len(exchanges) - PAGE
    if first is not None:
        start = min(start, first - 1)
    start = max(0, start)
    turns = []
    for number, turn in enumerate(exchanges[start : start + PAGE], start + 1):
        text = _for_qt(html.turn_html(turn, number))
        turns.append(RenderedTurn(text, turn_source_items(turn)))
    return TranscriptPage(start + 1, turns, len(exchanges))


def _for_qt(text: str) -> str:
    """The HTML without what would be visible only in Qt: words for screen readers, and an empty
    line at the end of code.
    """
    return _UNSEEN.sub("", text).replace("\n</code></pre>", "</code></pre>")


class TranscriptView(StyledBrowser):
    """A page of the conversation, and below it the answer that is being written."""

    # Emits the sources of the selected turn
    turn_selected = Signal(list)
    # Emits the number of a source of the selected turn
    citation_clicked = Signal(str)
    # Emits the number of the first turn of the wanted page
    page_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__("Transcript")
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextBrowserInteraction | flags.TextSelectableByKeyboard)
        self.page = TranscriptPage(1, (), 0)
        # The number of the turn that has its references shown; 0 if there is none
        self.selected = 0
        # The end of the streamed answer, which may be drawn again, and where it begins in the
        # document
        self._answer = ""
        self._stream_start: int | None = None
        # True while the cursor and the scroll bar move without the user
        self._loading = False
        self._timer = QTimer(self, singleShot=True, interval=DRAW_INTERVAL)
        self._timer.timeout.connect(self._draw_answer)
        self.anchorClicked.connect(self._click)
        self.cursorPositionChanged.connect(self._select_at_cursor)
        self.verticalScrollBar().valueChanged.connect(self._scroll)

    def show_page(self, page: TranscriptPage, *, keep: int | None = None) -> None:
        """Show other turns: at their end, or with turn `keep` at the top.

        Does nothing if an answer has begun since the page was requested.
        """
        if keep is not None and self._stream_start is not None:
            return
        self._timer.stop()
        self._loading = True
        self.page = page
        self._answer = ""
        self._stream_start = None
        turns: list[str] = []
        for number, turn in enumerate(page.turns, page.first):
            anchor = f'<a name="{_TURN}{number}"></a>'
            turns.append(anchor + turn.html)
        self.show_html("".join(turns) or "<p class='note'>No messages yet.</p>")
        if keep is not None:
            self.scrollToAnchor(f"{_TURN}{keep}")
        else:
            self._scroll_to_end()
        self._loading = False
        self._select_turn(keep or page.last)

    def restyle(self) -> None:
        """Draw the page again, in the current colors."""
        self.show_page(self.page, keep=self.selected)

    def _scroll_to_end(self) -> None:
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _select_turn(self, number: int) -> None:
        self.selected = number
        place = number - self.page.first
        is_on_page = 0 <= place < len(self.page.turns)
        self.turn_selected.emit(self.page.turns[place].sources if is_on_page else [])

    # the answer that is streamed

    def begin_turn(self, question: str) -> None:
        """Show the question, and make room for its answer."""
        if not self.page.turns:
            self.clear()
        shown = escape(question).replace("\n", "<br>")
        self._begin_text(f"<h2>You</h2><p>{shown}</p><h2>zkchat</h2><p></p>")
        self._scroll_to_end()

    def add_answer(self, text: str) -> bool:
        """Add to the streamed answer; returns whether that began the wait for the next drawing."""
        self._answer += text
        if self._timer.isActive():
            return False
        self._timer.start()
        return True

    def add_note(self, text: str) -> None:
        """Add a line between the pieces of an answer, such as a tool call."""
        self._draw_answer()
        self._begin_text(f"<p class='note'>{escape(text)}</p><p></p>")

    def _begin_text(self, head: str) -> None:
        """Add HTML at the end, and stream what follows after it."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertBlock()
        cursor.insertHtml(head)
        cursor.insertBlock()
        self._answer = ""
        self._stream_start = cursor.position()

    def _draw_answer(self) -> None:
        """Draw the streamed answer; of a long one only the end, which may still change."""
        if self._stream_start is None or not self._answer:
            return
        bar = self.verticalScrollBar()
        is_at_end = bar.value() >= bar.maximum() - FOLLOW_WITHIN
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._stream_start)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        # Text before an empty line outside of code is not drawn again
        settled = self._answer.rfind("\n\n", 0, max(0, len(self._answer) - SETTLED)) + 1
        if settled and self._answer.count("```", 0, settled) % 2 == 0:
            cursor.insertHtml(_for_qt(render_markdown(self._answer[:settled])))
            cursor.insertBlock()
            self._answer = self._answer[settled:]
            self._stream_start = cursor.position()
        cursor.insertHtml(_for_qt(render_markdown(self._answer)))
        if is_at_end:
            self._scroll_to_end()

    # what the user does

    def _select_at_cursor(self) -> None:
        """Select the turn at the cursor: the one with the nearest beginning above it."""
        if self._loading:
            return
        block = self.textCursor().block()
        while block.isValid():
            number = _turn_at(block)
            if number is not None:
                if number != self.selected:
                    self._select_turn(number)
                return
            block = block.previous()

    def _click(self, url: QUrl) -> None:
        cited = _SOURCE.fullmatch(url.fragment())
        if cited is None:
            QDesktopServices.openUrl(url)
            return
        self._select_turn(int(cited["turn"]))
        self.citation_clicked.emit(cited["source"])

    def _scroll(self, value: int) -> None:
        """At an end of the page, ask for the turns beyond it."""
        if self._loading or self._stream_start is not None:
            return
        bar = self.verticalScrollBar()
        first = None
        if value == bar.minimum() and self.page.first > 1:
            first = max(1, self.page.first - STEP)
        elif value == bar.maximum() and bar.maximum() > 0 and self.page.last < self.page.turn_count:
            first = self.page.first + STEP
        if first is not None:
            # Stays set until the page arrives
            self._loading = True
            self.page_wanted.emit(first)


def _turn_at(block: QTextBlock) -> int | None:
    """The number of the turn that begins at a block of the document; None if none does."""
    # Only a block with text has a fragment
    if block.length() <= 1:
        return None
    for name in block.begin().fragment().charFormat().anchorNames():
        if name.startswith(_TURN):
            return int(name.removeprefix(_TURN))
    return None
