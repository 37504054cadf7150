"""Changes of notes on the screen: each shown as a diff, and in a chat asked for, one by one or all of a turn at once."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from zkchat_cli import events
from zkchat_cli.errors import UsageError
from zkchat_cli.terminal import external_programs
from zkchat_cli.terminal.diffs import is_cut, show_diff
from zkchat_cli.terminal.interrupts import STOPPED
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tools import load_tools as every
from zkchat_cli.vault.approval import ALLOWED, DECLINED, Approve, Decision, approve_notes
from zkchat_cli.vault.edit.transaction import Change

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.terminal.confirm import Confirmation

MOST_LINES = 300
"""Of a diff that are shown on a screen: nobody reads a thousand before saying yes. The rest is a key away."""
YES, NO, ALL, VIEW = ("y", "yes"), ("n", "no", ""), ("a", "all"), ("v", "view")
NO_MORE = Decision(False, "declined by the user, who wants no more changes in this turn: nothing was changed")


class ApprovalPrompt:
    """Asks before each change; a yes to all lasts for the turn, and is none to what later conversations are told to do.

    Other words than a yes or a no are a no with its reason, which the model is told; Ctrl-C is a no to all that comes in the turn. What is
    typed before the question does not answer it.
    """

    def __init__(self, question: "Confirmation", screen: Screen) -> None:
        self.question = question
        self._screen = screen
        self.pausing: Callable[[], AbstractContextManager[None]] = nullcontext
        """Entered while a question is up, where Ctrl-C would stop the turn and not answer it."""
        self._all = self._none = False

    def begin(self) -> None:
        """A turn begins: nothing is allowed yet."""
        self._all = self._none = False

    def attending(self, running: Iterable[events.Event]) -> Iterator[events.Event]:
        """The same events; in an agent run each iteration is a turn of its own: a note that it reads later has nobody's yes yet."""
        for event in running:
            if isinstance(event, events.IterationStarted):
                self.begin()
            yield event

    def __call__(self, change: Change) -> Decision:
        if self._none:
            return NO_MORE
        if self._all and change.memory_file is None:
            return ALLOWED
        diff = change.diff
        cut = is_cut(diff, MOST_LINES)
        choices = f"y/N, a: all of this turn{', v: view the whole' if cut else ''}, or say why not"
        with self.pausing():
            while (said := self.question.said(f"{change.summary}?", choices)).lower() in VIEW and cut:
                with external_programs.paged(self._screen) as pager:
                    show_diff(diff, pager)
        answer, self._none = said.lower(), said == STOPPED
        self._all = self._all or answer in ALL
        if answer in (*YES, *ALL):
            return ALLOWED
        return (
            DECLINED
            if answer in (*NO, *VIEW, STOPPED)
            else Decision(False, f"{DECLINED.reason}. The user says: {replace_surrogates(said)}")
        )


def policy(*, unsafe: bool, yes: bool, screen: Screen, interactive: bool) -> Approve | None:
    """Who approves changes with these flags: None for nobody, so that each is refused. Raises UsageError for flags that make no sense."""
    if yes and not unsafe:
        raise UsageError("--yes approves changes, and there are none without --unsafe", "Leave it out, or say --unsafe --yes.")
    if yes:
        return approve_notes
    if unsafe and interactive:
        from zkchat_cli.terminal.confirm import Confirmation  # with prompt_toolkit, which pipes do without

        return ApprovalPrompt(Confirmation(colour=screen.colour), screen)
    if unsafe:
        screen.warn("nobody can be asked here: changes of notes are shown and refused", "--yes approves them all")
    return None


def tell_unable(session: "ZkChatSession", screen: Screen, *, unsafe: bool) -> None:
    """Say that --unsafe changes nothing, where the model cannot call the tools that write, or its agent may not."""
    if not unsafe or any(tool.writes for tool in session.tools):
        return
    agent = session.agent
    if agent is not None and agent.tools is not None and not any(tool.writes and tool.name in agent.tools for tool in every(unsafe=True)):
        told, hint = f"the agent {agent.name} may change no notes, with --unsafe or without", f"its tools: zkchat agent show {agent.name}"
    else:
        told, hint = f"{session.model.name} cannot change notes, with --unsafe or without", "choose a model that can: --model PROVIDER/NAME"
    screen.warn(told, hint)


def show_change(event: events.ChangeProposed | events.ChangeDecided, screen: Screen) -> None:
    """A proposed change as a diff, and what became of it: on the screen of a chat, or on stderr beside an answer in a pipe."""
    if screen.columns is None:
        beside = replace(screen, out=screen.err, colour=screen.colour and screen.err_is_terminal)
        _show(event, beside, None)
    else:
        _show(event, screen, MOST_LINES)


def _show(event: events.ChangeProposed | events.ChangeDecided, screen: Screen, most: int | None) -> None:
    if isinstance(event, events.ChangeDecided):
        screen.print(f"  {event.told}", "dim" if event.made else "yellow")
        return
    screen.print(f"  {event.summary}", "bold")
    if event.note:
        screen.print(f"  {event.note}", "yellow")
    show_diff(event.diff, screen, most)
