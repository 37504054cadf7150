"""Completion in the input line; completion.py finds what to offer."""

from collections.abc import Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from zkchat_cli.completion import InputCompleter


class ChatCompleter(Completer):
    def __init__(self, completer: InputCompleter) -> None:
        self._completer = completer

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        for each in self._completer.suggest(document.text_before_cursor, document.text_after_cursor):
            yield Completion(each.text, -each.replaced, display=each.label or None, display_meta=each.description or None)
