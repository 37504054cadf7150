"""A whole conversation with the demo notes, as one types it into a pipe: every answer checked,
every source looked at, one answer kept.

`transcripts/citations.txt` is what the program printed when somebody last read it line by line;
`python test_whole_conversation.py` writes it anew, for reading it again.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from conftest import Program

from zkchat_cli.app import factory

TRANSCRIPT = Path(__file__).with_name("transcripts") / "citations.txt"
DEMO = Path(factory.__file__).parent.with_name("demo")
TYPED = """
How do I link to a heading? See [[Links to headings and blocks]] and [[Setings]].
and what happens when I rename it?
What does compaction do? [[Compaction]]
When do I buy onions? @shopping.txt
/save --yes Answers/shopping
How many onions did I want to buy?
Which whale sings in B flat?
/sources 1
/why Compaction
/refs
/export md talk.md
/context
""".strip()


def conversation(folder: Path) -> str:
    """What the demo says to all that, what it warned of, the saved note and the exported
    conversation; without what each run has anew.
    """
    vault = shutil.copytree(DEMO, folder / "notes")
    (vault / "shopping.txt").write_text("Buy two onions on Friday.\n", encoding="utf-8")
    done = Program(vault, folder / "home")("chat", stdin=TYPED + "\n", cwd=vault)
    assert done.exit_status == 0, done.err
    files = [
        f"== {name}\n{(vault / name).read_text(encoding='utf-8')}"
        for name in ("Answers/shopping.md", "talk.md")
    ]
    text = "\n".join(["== typed", TYPED, "\n== shown", done.out, "== warnings", done.err, *files])
    text = re.sub(r"\b[0-9a-f]{12}\b", "CONVERSATION", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.+-]+", "TIME", text).replace(str(vault), "VAULT")
    return re.sub(r"score \d+\.\d+", "score S", text)


def test_every_answer_of_a_conversation_can_be_checked(tmp_path: Path) -> None:
    assert conversation(tmp_path) == TRANSCRIPT.read_text(encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        TRANSCRIPT.write_text(conversation(Path(folder)), encoding="utf-8")
    sys.stdout.write(f"written: {TRANSCRIPT}; read it\n")
