"""What waits in a database's log (its -wal file) to be written back, read without SQLite.

SQLite reads a log only where it may make a third file beside it. Who may not would have to copy both to where that is possible: words of
conversations in a folder that takes no more, or that a killed program leaves behind. The format is SQLite's (sqlite.org/walformat.html).
"""

import struct

_ORDERS = {0x377F0682: "<", 0x377F0683: ">"}
"""How the log's numbers are summed up, by its first number."""
_HEADER, _FRAME = 32, 24


def written_back(database: bytes, log: bytes) -> bytearray:
    """The database with all that was committed. What follows a frame that is torn or of an older log counts for nothing, as with SQLite."""
    image = bytearray(database)
    if len(log) < _HEADER:
        return image
    magic, _, page, _, *salts, sum1, sum2 = struct.unpack(">8I", log[:_HEADER])
    order = _ORDERS.get(magic)
    if order is None or (sums := _summed(order, log[:24], (0, 0))) != (sum1, sum2):
        return image
    waiting: dict[int, int] = {}
    for at in range(_HEADER, len(log) - _FRAME - page + 1, _FRAME + page):
        number, pages, *own, sum1, sum2 = struct.unpack(">6I", log[at : at + _FRAME])
        start = at + _FRAME
        sums = _summed(order, log[start : start + page], _summed(order, log[at : at + 8], sums))
        if own != salts or sums != (sum1, sum2):
            break
        waiting[number] = start
        if pages:  # a commit says how long the database is then
            image = image[: pages * page].ljust(pages * page, b"\0")
            for each, place in waiting.items():
                image[(each - 1) * page : each * page] = log[place : place + page]
            waiting.clear()
    return image


def _summed(order: str, content: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    one, two = sums
    for first, second in struct.iter_unpack(f"{order}2I", content):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
