"""The references of the selected turn: one row for each source, and the passage of the selected one in its note."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from zkchat_cli.exporters.base import describe_reference, note_name
from zkchat_cli.exporters.html.sources import STATUSES
from zkchat_cli.gui.styles import StyledBrowser
from zkchat_cli.models import Citation, ZkChatMessage
from zkchat_cli.references.provenance import merge_references
from zkchat_cli.views.sources import line_range, worst_verdict

COLUMNS = ("Verdict", "Note", "Heading", "Line", "Summary")
WIDTHS = (95, 120, 80, 45)
BROKEN = "✗"


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """`key` is what `/open` takes: the number of a source, or the path of a note; empty for a broken link."""

    key: str
    sign: str
    verdict: str
    note: str
    heading: str = ""
    line: str = ""
    summary: str = ""

    @property
    def number(self) -> str:
        return self.key if self.key.isdecimal() else ""

    @property
    def broken(self) -> bool:
        return self.sign == BROKEN


def reference_rows(turn: Sequence[ZkChatMessage]) -> list[ReferenceRow]:
    """What the messages of a turn cite, by number, and then the other documents that they name or that tools found, each once."""
    named = [each for message in turn if message.role == "user" for each in message.references]
    references = merge_references(named, [each for message in turn if message.role != "user" for each in message.references])
    summaries = {each.relative_path: each.summary for each in references if each.relative_path and each.summary}
    groups: dict[int, list[Citation]] = {}
    for citation in (each for message in turn for each in message.citations):
        groups.setdefault(citation.number, []).append(citation)
    rows = [_cited(number, group, summaries) for number, group in sorted(groups.items())]
    cited = {citation.relative_path for group in groups.values() for citation in group}
    for each in references:
        if each.relative_path is None:
            rows.append(ReferenceRow("", BROKEN, "broken", each.wikilink, summary=describe_reference(each)))
        elif each.relative_path not in cited:
            key = str(each.number) if each.number is not None else each.relative_path
            about = "; ".join(filter(None, (describe_reference(each), each.summary)))
            rows.append(ReferenceRow(key, "", "not cited", note_name(each.relative_path), each.heading or "", summary=about))
    return rows


def _cited(number: int, group: Sequence[Citation], summaries: "dict[str, str]") -> ReferenceRow:
    verdict = worst_verdict(group)
    first = next((each for each in group if each.relative_path), group[0])
    path = first.relative_path
    if path is None:
        return ReferenceRow("", BROKEN, verdict, f"[{number}]", summary=STATUSES[verdict].description)
    lines = line_range(first.start_line, first.end_line) if first.start_line is not None else ""
    return ReferenceRow(str(number), STATUSES[verdict].sign, verdict, note_name(path), first.heading or "", lines, summaries.get(path, ""))


class ReferencePanel(QWidget):
    opened = Signal(str)
    """The key of a row that was double-clicked; empty for a broken link."""
    selected = Signal(str)
    """The key of the row whose passage is wanted."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[ReferenceRow] = []
        self.table = QTreeWidget()
        self.table.setHeaderLabels(COLUMNS)
        self.table.setRootIsDecorated(False)
        self.table.setAccessibleName("References of the selected turn")
        for column, width in enumerate(WIDTHS):
            self.table.setColumnWidth(column, width)
        self.table.itemActivated.connect(lambda item, _: self.opened.emit(item.data(0, Qt.ItemDataRole.UserRole).key))
        self.table.currentItemChanged.connect(lambda item, _: self._select(item))
        self.passage = StyledBrowser("Passage in its note")
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self.table)
        splitter.addWidget(self.passage)
        splitter.setSizes([300, 300])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(splitter)

    def show_rows(self, rows: list[ReferenceRow]) -> None:
        if rows == self.rows:
            return
        self.rows = rows
        self.table.clear()
        self.passage.clear()
        for row in rows:
            number = f"[{row.number}] " if row.number else ""
            item = QTreeWidgetItem([f"{number}{row.sign} {row.verdict}".strip(), row.note, row.heading, row.line, row.summary])
            item.setData(0, Qt.ItemDataRole.UserRole, row)
            item.setToolTip(4, row.summary)
            self.table.addTopLevelItem(item)

    def select_number(self, number: str) -> None:
        for n, row in enumerate(self.rows):
            if row.number == number and (item := self.table.topLevelItem(n)) is not None:
                self.table.setCurrentItem(item)

    def _select(self, item: QTreeWidgetItem | None) -> None:
        if item is None:
            return
        row: ReferenceRow = item.data(0, Qt.ItemDataRole.UserRole)
        if row.key:
            self.selected.emit(row.key)
        else:
            self.passage.show_html(f"<p class='problem'>{escape(row.note)}: {escape(row.summary)}</p>")
