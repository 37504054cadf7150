"""The HTML export in a real browser: what a reader sees, and that the page asks nobody for
anything.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from factories import chunk
from pytest_httpserver import HTTPServer
from test_exporters import make_archive, make_message

from zkchat_cli.exporters import exporter
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.citations import Citation

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here (Debian: apt-get install chromium)"
)


def seen(page: str, folder: Path) -> tuple[str, list[str]]:
    """The document after loading, and what the console said."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"]
    options += [
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
    ]
    options += [f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [str(CHROMIUM), *options, (folder / "page.html").as_uri()],
        capture_output=True,
        timeout=60,
        check=True,
    )
    console = [
        line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line
    ]
    return done.stdout.decode(), console


def a_talk(answer: str) -> ConversationArchive:
    """A question, and an answer that quotes the first chunk."""
    quote = "Filters say which tasks you want to see."
    citation = Citation(
        number=1,
        relative_path="Filters.md",
        start_line=5,
        end_line=5,
        quote=quote,
        valid=True,
        verdict="verified",
    )
    found = chunk(1, f"# Filters\n\n{quote}\n")
    told = make_message("assistant", answer, citations=(citation,), chunks=(found,), model="m")
    return make_archive(make_message("user", "What do filters do?"), told, title="On filters")


def test_no_note_or_answer_makes_the_page_act_or_load_anything(
    tmp_path: Path, httpserver: HTTPServer
) -> None:
    there = httpserver.url_for("/")
    hostile = f"""![picture]({there}a.png) <img src="{there}b.png" onerror="console.error('run')">
<script>console.error('run')</script>
<style>@import url({there}c.css); body {{ background: url({there}d.png) }}</style>
<iframe src="{there}e"></iframe> [link](javascript:console.error('run'))
<link rel="prefetch" href="{there}f"> <meta http-equiv="refresh" content="0;url={there}g"> [1]"""
    archive = a_talk(hostile)
    wild = archive.messages[1].model_copy(
        update={"chunks": (chunk(1, f"</pre></details>{hostile}"),)}
    )
    document, console = seen(
        exporter("html").export(
            archive.model_copy(update={"messages": (archive.messages[0], wild)})
        ),
        tmp_path,
    )
    assert (console, httpserver.log) == ([], [])
    assert "What do filters do?" in document
    assert not re.search(r"<(script|img|iframe|link)\b", document)
