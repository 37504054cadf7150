"""How well a real model cites, by the wording of the reminder after the passages.

    python tests/real/citing.py --model openai/NAME --vault NOTES --questions QUESTIONS.jsonl [--limit 20] [--window 2048]

Each line of the questions has a `query`, and an `answer` that is null if the notes do not answer it; those are left out. The wordings take
turns at each question, so that the server's cache holds what they share. Each answer is one turn of a new conversation.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from zkchat_cli.app import factory
from zkchat_cli.app.factory import App
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.context.system_prompt import citing_reminder
from zkchat_cli.events import TurnCompleted
from zkchat_cli.llm.base import Delta, Model, Request
from zkchat_cli.models import TurnReport

WORDINGS: Mapping[str, str | None] = {
    "as shipped": None,
    "passages as JSON": None,
    "a short rule": "Answer in one sentence, with the number of its excerpt. For example: It takes nine months [{number}].",
    "copy a sentence": (
        "Answer the question with words copied from one excerpt, in quotation marks, and its number in square brackets, like this: "
        "“It takes nine months” [{number}]."
    ),
    "only the rule": (
        "Answer only from the excerpts above. After each statement, write the number of its excerpt in square brackets, and quote word for "
        "word in “quotation marks”."
    ),
}


@dataclass
class RewordedModel:
    """A model that gets another reminder instead of the one at the end of a prompt, or passages as large models get them."""

    model: Model
    wording: str | None
    as_json: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        *before, last = request.messages
        number = last.content.rpartition("[")[2].partition("]")[0]
        if self.wording is not None and number.isdigit() and last.content == citing_reminder(int(number)):
            last = last.model_copy(update={"content": self.wording.format(number=number)})
        return self.model.stream(replace(request, messages=(*before, last), window=None if self.as_json else request.window))


@dataclass
class Tally:
    """What the answers with one wording cite."""

    answers: int = 0
    failed: int = 0
    cited: int = 0
    """Answers with a citation of a passage that was sent."""
    right: int = 0
    """Answers that cite the note with the answer."""
    quotations: int = 0
    verified: int = 0
    quoting: int = 0
    """Answers with a verified quotation."""
    tokens: list[int] = field(default_factory=list)

    def add(self, report: TurnReport, note: str) -> None:
        self.answers += 1
        valid = [c for c in report.citations if c.relative_path is not None]
        quoted = [c for c in report.citations if c.quote is not None]
        verified = [c for c in quoted if c.verdict == "verified"]
        self.cited += bool(valid)
        self.right += any(c.relative_path == note for c in valid)
        self.quotations += len(quoted)
        self.verified += len(verified)
        self.quoting += bool(verified)
        self.tokens.append(report.usage.prompt_tokens)

    def line(self, wording: str) -> str:
        return (
            f"{wording:16} {self.answers:3} answers ({self.failed} failed), cited {self.cited}, the right note {self.right}; "
            f"quotations {self.quotations}, verified {self.verified}, answers with a verified one {self.quoting}"
        )


def ask(app: App, question: str, name: str) -> TurnReport | None:
    model = RewordedModel(app.using.model, WORDINGS[name], as_json=name == "passages as JSON")
    session = replace(app, using=replace(app.using, model=model)).session()
    *_, last = session.send(question)
    return last.report if isinstance(last, TurnCompleted) else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--vault", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--window", type=int, default=2048)
    parser.add_argument("--wordings", nargs="+", default=[*WORDINGS], choices=[*WORDINGS])
    parser.add_argument("--verbose", action="store_true", help="print each answer")
    options = parser.parse_args()
    rows = [row for row in map(json.loads, options.questions.read_text("utf-8").splitlines()) if row["answer"] is not None]
    tallies = {name: Tally() for name in WORDINGS}
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "ZKCHAT_HOME": home, "ZKCHAT_RETRIEVAL__MODE": "before"}
        env |= {"ZKCHAT_LLM__TEMPERATURE": "0", "ZKCHAT_LLM__MAX_OUTPUT_TOKENS": "120", "ZKCHAT_OPENAI__TIMEOUT": "600"}
        app = factory.open_app(StartupOptions(options.vault, options.model, max_context=options.window, store=False), env, Path.cwd())
        app.vault.refresh()
        for row in rows[: options.limit]:
            for name in options.wordings:
                report = ask(app, row["query"], name)
                tallies[name].failed += report is None
                if report is not None:
                    tallies[name].add(report, row["answer"]["note"])
                    if options.verbose:
                        print(f"{row['id']} {name}: {report.answer}", flush=True)
        app.close()
    for name in options.wordings:
        print(tallies[name].line(name))
    sent = tallies[options.wordings[0]].tokens
    print(f"tokens of a prompt: {min(sent, default=0)} to {max(sent, default=0)}")


if __name__ == "__main__":
    main()
