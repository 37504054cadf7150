"""Ask one question and print the answer with its sources."""

import sys
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, read_piped
from zkchat_cli.errors import StoreError, UsageError, ZkchatError
from zkchat_cli.terminal.link_targets import note_opener
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.views.text import IN_SHELL, UNSTORED, CommandHints, summarize_problems

if TYPE_CHECKING:
    from zkchat_cli import events
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models.reports import TurnReport

ORDER = 20
COMMAND = command_group()


@command(
    COMMAND,
    *options.PROMPT,
    examples=[
        'zkchat ask "what did I decide about the roof?"',
        'git log -5 | zkchat ask "which of my notes does this touch?"',
        'zkchat ask @plan.md "what is missing?"',
    ],
)
def ask(
    ctx: CommandContext,
    prompt: Annotated[
        list[str] | None,
        Argument(metavar="[PROMPT]...", help="The question; piped text comes before it."),
    ] = None,
    continue_: Annotated[
        bool,
        Option(
            "--continue",
            "-c",
            help=(
                "Continue the latest conversation; without PROMPT, finish an answer that was "
                "cut off."
            ),
        ),
    ] = False,
    cid: options.ConversationOption = None,
    answer_only: Annotated[
        bool, Option("--answer-only", help="Print the answer without its sources.")
    ] = False,
    stream_json: Annotated[
        bool,
        Option(
            "--stream-json", help="Print one JSON event per line; the last is what --json prints."
        ),
    ] = False,
    show_context: Annotated[
        bool, Option("--show-context", help="Print on standard error what the prompt is made of.")
    ] = False,
    unsafe: options.UnsafeOption = False,
    yes: options.YesOption = False,
    no_store: options.NoStoreOption = False,
) -> None:
    """Ask one question about your notes; print the answer and its sources.

    Several arguments form one message. Text from a pipe, up to ten million characters, is put
    before it; only the arguments can name files.
    """
    from zkchat_cli.chat.turn_recorder import default_title
    from zkchat_cli.terminal.approval import ask_about_call, choose_approval, read_answer
    from zkchat_cli.terminal.turn_renderer import DisplayOptions, remark_printer, show_turn

    hints = UNSTORED if no_store else IN_SHELL
    writes_json = ctx.as_json or stream_json
    continuing = continue_ or cid is not None
    piped = "" if sys.stdin.isatty() else read_piped(sys.stdin.read)
    typed = " ".join(prompt or []).strip("\n")
    text = "\n\n".join(part.strip("\n") for part in (piped, typed) if part.strip())
    if not text and not continuing:
        raise UsageError(
            "there is nothing to ask", 'For example: zkchat ask "…", or pipe a text in.'
        )
    # Piped text is data: beside a question, it must not import files
    typed = typed if typed.strip() else text
    with ctx.open_app(store=not no_store, unsafe=unsafe) as opened:
        interactive = sys.stdin.isatty() and sys.stdout.isatty() and not writes_json
        ask_user = partial(read_answer, screen=ctx.screen) if interactive else None
        approve = choose_approval(ctx.screen, ask_user, unsafe=unsafe, yes=yes)
        app = replace(
            opened,
            approve=approve,
            approve_call=partial(ask_about_call, ask=ask_user) if ask_user else None,
        )
        screen = replace(
            ctx.screen if writes_json else ctx.screen.with_width(),
            address=note_opener(app.vault.root),
        )
        index = ctx.refresh(app.vault)
        session = app.session(app.find(cid) if continuing else None)
        session.apply_scan(index)
        problems = summarize_problems(index.problems if index.added or index.changed else ())
        for warning in (*((problem, "") for problem in problems), *app.warnings(session)):
            screen.warn(*warning)
        turn = session.send(text, typed=typed) if text else session.continue_answer()
        try:
            # Closing it stores the partial answer if the reader is gone
            with closing(turn):
                if writes_json:
                    _run_as_json(session, turn, screen, hints, stream=stream_json)
                else:
                    display = DisplayOptions(
                        0 if answer_only else app.loaded.values.references.max_displayed,
                        hints=hints,
                    )
                    _completed_report(show_turn(turn, screen, remark_printer(screen), display))
                    session.flush()
            if typed != text and not continuing:
                # A title is not worth an error
                with suppress(StoreError):
                    # The question is a better title than the piped text before it
                    session.stored_state().rename(default_title(typed))
        finally:
            if show_context and session.last_prompt is not None:
                from zkchat_cli.views.prompts import overview_lines  # 15 ms

                screen.remark("\n".join(overview_lines(session.last_prompt)))
        ctx.embed_for_a_moment(app.vault, app.message_embedder())


def _run_as_json(
    session: "ZkChatSession",
    turn: "Iterable[events.Event]",
    screen: Screen,
    hints: CommandHints,
    *,
    stream: bool,
) -> None:
    from zkchat_cli import events
    from zkchat_cli.terminal.approval import show_change
    from zkchat_cli.views.turn_steps import describe_compaction

    for event in turn:
        document: dict[str, Any] = event._asdict()
        match event:
            case events.TurnCompleted(report):
                document = report.model_dump(mode="json") if stream else {}
            case events.TurnFailed(error, _, _):
                document["error"] = error.to_json()
                error.streamed = stream
            case events.Notice(message, hint):
                screen.warn(message, hint)
            case events.CompactionDone(compaction):
                screen.remark(describe_compaction(compaction, hints, short=True))
            case events.ChangeProposed() | events.ChangeDecided() if not stream:
                show_change(event, screen)
        if stream and not isinstance(event, events.PromptBuilt):
            name = "".join(
                f"_{c.lower()}" if c.isupper() else c for c in type(event).__name__
            ).lstrip("_")
            screen.json({"type": name, **document})
    report = _completed_report(event)
    try:
        session.flush()
    except ZkchatError as e:
        e.partial = report.answer
        raise
    if not stream:
        screen.json(report)


def _completed_report(last: "events.Event | None") -> "TurnReport":
    """The report of a completed turn. Raises the error of a failed one, with the partial answer in
    it.
    """
    from zkchat_cli import events

    if isinstance(last, events.TurnFailed):
        last.error.partial = last.partial
        raise last.error
    assert isinstance(last, events.TurnCompleted)
    return last.report
