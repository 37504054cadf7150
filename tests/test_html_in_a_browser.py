"""The HTML export in a real browser: what a reader sees, and that the page asks nobody for anything."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from factories import NOON, chunk, message
from pytest_httpserver import HTTPServer

from zkchat_cli.exporters import exporter
from zkchat_cli.models import Citation, Conversation, ConversationArchive, TokenUsage

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here (Debian: apt-get install chromium)")


def seen(page: str, folder: Path) -> tuple[str, list[str]]:
    """The document after loading, and what the console said."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"]
    options += ["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--enable-logging=stderr"]
    options += [f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run([str(CHROMIUM), *options, (folder / "page.html").as_uri()], capture_output=True, timeout=60, check=True)
    console = [line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    return done.stdout.decode(), console


def a_talk(answer: str) -> ConversationArchive:
    """A question, and an answer that quotes the first chunk."""
    quote = "Filters say which tasks you want to see."
    citation = Citation(number=1, relative_path="Filters.md", start_line=5, end_line=5, quote=quote, valid=True, verdict="verified")
    question = message("user", "What do filters do?", "q1")
    told = message("assistant", answer, "a1", parent_id="q1", citations=(citation,), chunks=(chunk(1, f"# Filters\n\n{quote}\n"),))
    usage = TokenUsage(prompt_tokens=900, completion_tokens=60, estimated=False)
    talk = Conversation(id="c1", vault="/notes", title="On filters", created_at=NOON, updated_at=NOON, head_id="a1")
    return ConversationArchive(conversation=talk, messages=(question, told.model_copy(update={"usage": usage, "model": "m"})))


def test_the_answer_and_the_highlighted_excerpt_are_on_the_page(tmp_path: Path) -> None:
    page = exporter("html").export(a_talk('They choose: "Filters say which tasks you want to see." [1]\n\n| a | b |\n|---|---|\n| 1 | 2 |'))
    document, console = seen(page, tmp_path)
    assert console == []
    for word in ("On filters", "What do filters do?", "<table>", "<mark>Filters say which tasks you want to see", 'class="excerpt" open'):
        assert word in document


def test_no_note_or_answer_makes_the_page_act_or_load_anything(tmp_path: Path, httpserver: HTTPServer) -> None:
    there = httpserver.url_for("/")
    hostile = f"""![picture]({there}a.png) <img src="{there}b.png" onerror="console.error('run')"> <script>console.error('run')</script>
<style>@import url({there}c.css); body {{ background: url({there}d.png) }}</style> <iframe src="{there}e"></iframe>
[link](javascript:console.error('run')) <link rel="prefetch" href="{there}f"> <meta http-equiv="refresh" content="0;url={there}g"> [1]"""
    archive = a_talk(hostile)
    wild = archive.messages[1].model_copy(update={"chunks": (chunk(1, f"</pre></details>{hostile}"),)})
    document, console = seen(exporter("html").export(archive.model_copy(update={"messages": (archive.messages[0], wild)})), tmp_path)
    assert (console, httpserver.log) == ([], [])
    assert "What do filters do?" in document
    assert not re.search(r"<(script|img|iframe|link)\b", document)
