"""The transcript: a part of the conversation as the HTML that is exported, and the answer that is
streamed below it.

Only some turns are in the document at once, so that a conversation of 10,000 turns opens and
scrolls as fast as a short one. Earlier and later ones take their place when the user scrolls to an
end.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QTextBlock, QTextCursor

from zkchat_cli.exporters import html
from zkchat_cli.exporters.html import render_markdown
from zkchat_cli.gui.styled_browser import StyledBrowser
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.views.sources import SourceItem, turn_source_items

# Turns in the document
PAGE = 24
# Turns by which it moves
STEP = PAGE // 2
# Milliseconds between two drawings of a streamed answer
DRAW_INTERVAL = 60
# Characters of a streamed answer that may change with the next delta; earlier ones are drawn once
SETTLED = 2000
# Pixels from the end within which the view follows a streamed answer
FOLLOW_WITHIN = 40
# How the anchor at the beginning of a turn begins
_TURN = "turn-"
_UNSEEN = re.compile(r'<span class="unseen">[^<]*</span>')
_SOURCE = re.compile(r"source-(?P<turn>\d+)\.\d+-(?P<source>\d+)")


class RenderedTurn(NamedTuple):
    """A turn as HTML, and its sources."""

    html: str
    sources: list[SourceItem]


class TranscriptPage(NamedTuple):
    """Some turns of a conversation that has `turn_count`. They are numbered from 1."""

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
    """The turns from `first` on, by default the last ones. It takes up to 0.1 s, so it is for a
    worker's thread.
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
    """The HTML without what only Qt would show: words for screen readers, and an empty line at the
    end of code.
    """
    return _UNSEEN.sub("", text).replace("\n</code></pre>", "</code></pre>")


class TranscriptView(StyledBrowser):
    """A page of the conversation, and below it the answer that is being written."""

    # The sources of the selected turn
    turn_selected = Signal(list)
    # The number of a source of the selected turn
    citation_clicked = Signal(str)
    # The number of the first turn of the wanted page
    page_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__("Transcript")
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextBrowserInteraction | flags.TextSelectableByKeyboard)
        self.page = TranscriptPage(1, (), 0)
        # The number of the turn that the references are shown of; 0 without one
        self.selected = 0
        # The end of the streamed answer that is not drawn for good, and where in the document it
        # begins
        self._answer = ""
        self._stream_start: int | None = None
        # While this is true, the cursor and the scroll bar move without the user
        self._loading = False
        self._timer = QTimer(self, singleShot=True, interval=DRAW_INTERVAL)
        self._timer.timeout.connect(self._draw_answer)
        self.anchorClicked.connect(self._click)
        self.cursorPositionChanged.connect(self._select_at_cursor)
        self.verticalScrollBar().valueChanged.connect(self._scroll)

    def show_page(self, page: TranscriptPage, *, keep: int | None = None) -> None:
        """Show other turns: at their end, or with turn `keep` at the top, unless an answer has
        begun since they were asked for.
        """
        if keep is not None and self._stream_start is not None:
            return
        self._timer.stop()
        self._loading = True
        self.page = page
        self._answer = ""
        self._stream_start = None
        turns = (
            f'<a name="{_TURN}{number}"></a>{turn.html}'
            for number, turn in enumerate(page.turns, page.first)
        )
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
        """Add HTML at the end; what is streamed from now on comes after it."""
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
        # What comes before an empty line outside of code stays as it is drawn
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
        """Select the turn that the cursor is in: the nearest beginning of one above it."""
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
            # Until the page is there
            self._loading = True
            self.page_wanted.emit(first)


def _turn_at(block: QTextBlock) -> int | None:
    """The number of the turn that begins at a block of the document, if one does."""
    # Only a block with text has a fragment
    if block.length() <= 1:
        return None
    for name in block.begin().fragment().charFormat().anchorNames():
        if name.startswith(_TURN):
            return int(name.removeprefix(_TURN))
    return None
