"""The HTML export in a real browser: what a reader sees in light and dark, and that the page asks nobody for anything."""

import re
import shutil
import struct
import subprocess
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from building import NOON, chunk, said
from pytest_httpserver import HTTPServer

from zkchat_cli.exporters import exporter
from zkchat_cli.models import Citation, Conversation, ConversationArchive, TokenUsage

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here (Debian: apt-get install chromium)")

Colour = tuple[int, int, int]
LIGHT, DARK = "1", "0"
"""What Chromium calls them."""
SIZE = (520, 1250)


@dataclass(frozen=True)
class Seen:
    """A page in the browser: its document after loading, its colours by how many pixels have them, what the console said."""

    document: str
    colours: Counter[Colour]
    console: list[str]


def seen(page: str, folder: Path, scheme: str) -> Seen:
    (folder / "page.html").write_text(page, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1", "--no-first-run"]
    options += ["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--enable-logging=stderr"]
    options += [f"--user-data-dir={folder / 'profile'}", f"--window-size={SIZE[0]},{SIZE[1]}"]
    options += [f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={folder / 'page.png'}", "--dump-dom"]
    done = subprocess.run([str(CHROMIUM), *options, (folder / "page.html").as_uri()], capture_output=True, timeout=60, check=True)
    console = [line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    return Seen(done.stdout.decode(), colours((folder / "page.png").read_bytes()), console)


def colours(png: bytes) -> Counter[Colour]:
    """How often each colour is in an image of 8 bits a channel, without a library for images."""
    width, height, _, kind = struct.unpack(">IIBB", png[16:26])
    channels = {2: 3, 6: 4}[kind]
    data, at = b"", 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += length + 12
    raw, stride = zlib.decompress(data), width * channels
    found: Counter[Colour] = Counter()
    above = bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        above = _row(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), above, channels)
        found.update(zip(*(above[channel::channels] for channel in range(3)), strict=True))
    return found


def _row(filtered: int, line: bytearray, above: bytearray, channels: int) -> bytearray:
    """A line of a PNG without its filter, which says how it differs from what is left of it and above."""
    pixels = np.frombuffer(line, np.uint8).reshape(-1, channels)
    if filtered == 1:
        return bytearray(np.cumsum(pixels, axis=0, dtype=np.uint8).tobytes())
    if filtered == 2:
        return bytearray((pixels.ravel() + np.frombuffer(above, np.uint8)).tobytes())
    for i in range(len(line)) if filtered else ():
        left, up, corner = (line[i - channels], above[i], above[i - channels]) if i >= channels else (0, above[i], 0)
        if filtered == 4:
            near = left + up - corner
            away = abs(near - left), abs(near - up), abs(near - corner)
            guess = (left, up, corner)[away.index(min(away))]
        else:
            guess = (left, up, (left + up) // 2)[filtered - 1]
        line[i] = (line[i] + guess) & 255
    return line


def a_talk(answer: str) -> ConversationArchive:
    """A question, and an answer that quotes the first chunk."""
    quote = "Filters say which tasks you want to see."
    citation = Citation(number=1, relative_path="Filters.md", start_line=5, end_line=5, quote=quote, valid=True, status="verified")
    question = said("user", "What do filters do?", "q1")
    told = said("assistant", answer, "a1", parent_id="q1", citations=(citation,), chunks=(chunk(1, f"# Filters\n\n{quote}\n"),))
    usage = TokenUsage(prompt_tokens=900, completion_tokens=60, estimated=False)
    talk = Conversation(id="c1", vault="/notes", title="On filters", created_at=NOON, updated_at=NOON, head_id="a1")
    return ConversationArchive(conversation=talk, messages=(question, told.model_copy(update={"usage": usage, "model": "m"})))


def colour(page: str, name: str, *, dark: bool = False) -> Colour:
    """A colour of the page's own style by its name."""
    found = re.findall(rf"--{name}: #(..)(..)(..)", page)[int(dark)]
    return tuple(int(part, 16) for part in found)  # type: ignore[return-value]


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_answer_and_highlighted_excerpt_are_seen_in_light_and_dark(tmp_path: Path, scheme: str) -> None:
    page = exporter("html").export(a_talk('They choose: "Filters say which tasks you want to see." [1]\n\n| a | b |\n|---|---|\n| 1 | 2 |'))
    shown = seen(page, tmp_path, scheme)
    dark = scheme == DARK
    assert shown.console == []
    ground = shown.colours[colour(page, "ground", dark=dark)]
    assert ground > 0.5 * SIZE[0] * SIZE[1]
    assert shown.colours[colour(page, "ground", dark=not dark)] < ground / 50
    for name, pixels in (("raised", 5000), ("marked", 500), ("link", 30), ("verified", 100), ("text", 200)):
        assert shown.colours[colour(page, name, dark=dark)] > pixels, f"too little of {name} is on the page"
    for word in ("On filters", "What do filters do?", "<table>", "<mark>Filters say which tasks you want to see"):
        assert word in shown.document
    assert 'details class="excerpt" open' in shown.document


def test_no_note_or_answer_makes_the_page_act_or_load_anything(tmp_path: Path, httpserver: HTTPServer) -> None:
    there = httpserver.url_for("/")
    hostile = f"""![picture]({there}a.png) <img src="{there}b.png" onerror="console.error('run')"> <script>console.error('run')</script>
<style>@import url({there}c.css); body {{ background: url({there}d.png) }}</style> <iframe src="{there}e"></iframe>
[link](javascript:console.error('run')) <link rel="prefetch" href="{there}f"> <meta http-equiv="refresh" content="0;url={there}g"> [1]"""
    archive = a_talk(hostile)
    wild = archive.messages[1].model_copy(update={"chunks": (chunk(1, f"</pre></details>{hostile}"),)})
    shown = seen(exporter("html").export(archive.model_copy(update={"messages": (archive.messages[0], wild)})), tmp_path, LIGHT)
    assert (shown.console, httpserver.log) == ([], [])
    assert "What do filters do?" in shown.document
    assert not re.search(r"<(script|img|iframe|link)\b", shown.document)
