"""Where the nodes of a graph are drawn: in columns by their distance. Within a column a node is
near the nodes that it is connected with in the column before, so that few lines cross.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.references.reference_graph import GraphNode

BOX_WIDTH = 230
BOX_HEIGHT = 24
_COLUMN_GAP = 150
_ROW_GAP = 10
# How far a line between two nodes of one column bends out of it
_BEND = 60


class Point(NamedTuple):
    """A place in the picture, in pixels: of a box the upper left corner."""

    x: int
    y: int


def arrange_nodes(nodes: Sequence[GraphNode], lines: Iterable[tuple[str, str]]) -> dict[str, Point]:
    """The place of each node by its id. `lines` are the pairs of connected nodes."""
    connected: defaultdict[str, set[str]] = defaultdict(set)
    for source, target in lines:
        connected[source].add(target)
        connected[target].add(source)
    columns: defaultdict[int, list[GraphNode]] = defaultdict(list)
    for node in nodes:
        columns[node.distance].append(node)
    rows: dict[str, float] = {}
    places: dict[str, Point] = {}
    most = max(map(len, columns.values()), default=0)
    for column, distance in enumerate(sorted(columns)):
        ordered = sorted(columns[distance], key=lambda node: _mean_row(connected[node.id], rows))
        # A short column is centred
        first = (most - len(ordered)) // 2
        placed = {node.id: float(first + row) for row, node in enumerate(ordered)}
        rows.update(placed)
        x = column * (BOX_WIDTH + _COLUMN_GAP)
        for name, row in placed.items():
            places[name] = Point(x, round(row * (BOX_HEIGHT + _ROW_GAP)))
    return places


def _mean_row(neighbours: Iterable[str], rows: dict[str, float]) -> float:
    """The mean row of the neighbours that are placed; without any, behind all others."""
    placed = [rows[name] for name in neighbours if name in rows]
    return sum(placed) / len(placed) if placed else float("inf")


def picture_size(places: Collection[Point]) -> Point:
    """Width and height of a picture with boxes at these places, with room for the lines that bend
    out of the last column.
    """
    right = max((place.x for place in places), default=0)
    bottom = max((place.y for place in places), default=0)
    return Point(right + BOX_WIDTH + _BEND, bottom + BOX_HEIGHT)


def curve(source: Point, target: Point) -> str:
    """The path of a line from one box to another, as SVG writes it."""
    middle = BOX_HEIGHT // 2
    start_y = source.y + middle
    end_y = target.y + middle
    if source.x == target.x:
        side = source.x + BOX_WIDTH
        out = side + _BEND
        return f"M{side},{start_y} C{out},{start_y} {out},{end_y} {side},{end_y}"
    is_forward = source.x < target.x
    start_x = source.x + BOX_WIDTH if is_forward else source.x
    end_x = target.x if is_forward else target.x + BOX_WIDTH
    half = (start_x + end_x) // 2
    return f"M{start_x},{start_y} C{half},{start_y} {half},{end_y} {end_x},{end_y}"
