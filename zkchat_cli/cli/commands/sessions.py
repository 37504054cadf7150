"""Stored conversations: list, read, search, share, rename, delete and draw them."""

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, confirm
from zkchat_cli.cli.graph_output import FormatOption, NotesOption, check_format, print_graph
from zkchat_cli.cli.text_output import OutputOption
from zkchat_cli.errors import UsageError
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import sanitize
from zkchat_cli.text.words import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zkchat_cli.models.messages import ZkChatMessage
    from zkchat_cli.store.port import ConversationSharing, SessionStore, SharedWith

ORDER = 40
COMMAND = command_group("Stored conversations.")

DEFAULT_LIMIT = 20
MAX_SOURCES = 10
# Notes and conversations of a graph: more are hard to read
GRAPH_NOTES = 60
GRAPH_CONVERSATIONS = 20

AllOption = Annotated[bool, Option("--all", "-a", help="All vaults, not only this one.")]


@command(COMMAND, *options.NOTES)
def list_(
    ctx: CommandContext,
    everywhere: AllOption = False,
    limit: Annotated[
        int | None, Option("-n", "--limit", metavar="N", min=1, help="Only the newest N.")
    ] = None,
) -> None:
    """Stored conversations, newest first."""
    from zkchat_cli.views import stored_items

    with ctx.open_store(anywhere=everywhere) as (store, root):
        known = store.conversations(None if everywhere else root, limit)
        has_others = not known and bool(store.conversations(None, 1))
        is_away = store.away is not None
    none = "No conversations yet." if everywhere else stored_items.NO_CONVERSATIONS
    hint = 'Start one: zkchat ask "…"'
    if has_others:
        hint = "`zkchat sessions list --all` shows those with other notes."
    if is_away:
        none = stored_items.NONE_HERE
        hint = stored_items.LISTED_LATER
    ctx.print_result(known, stored_items.conversation_lines(known), f"{none} {hint}")


@command(COMMAND, *options.NOTES)
def show(
    ctx: CommandContext,
    id_: options.ConversationArgument = None,
    limit: Annotated[
        int | None, Option("-n", "--limit", metavar="N", min=1, help="Only the newest N messages.")
    ] = None,
    since: Annotated[
        str, Option("--since", metavar="T", help="Only messages from this time or day on.")
    ] = "",
    before: Annotated[
        str, Option("--before", metavar="T", help="Only messages before this time or day.")
    ] = "",
) -> None:
    """A conversation's messages, and the sources of each answer."""
    from zkchat_cli.models.messages import is_chat
    from zkchat_cli.views import stored_items
    from zkchat_cli.views.priorities import message_document

    first = _moment("--since", since)
    end = _moment("--before", before)
    with ctx.open_store() as (store, root):
        overview = store.find(id_, root)
        history = store.history(overview.id)
    shown = tuple(message for message in history if _is_between(message, first, end))
    if limit:
        shown = shown[-limit:]
    messages = list(map(message_document, shown))
    document = {**overview.model_dump(mode="json"), "history": messages}
    ctx.print_result(document, stored_items.transcript_lines(overview, shown, MAX_SOURCES))
    is_filtered = limit or first or end
    if not is_filtered and sum(map(is_chat, history)) < overview.messages:
        ctx.screen.remark(
            f"It has messages on other branches: zkchat chat --resume {overview.id}, then /branches"
        )


def _is_between(message: "ZkChatMessage", first: datetime | None, end: datetime | None) -> bool:
    """Whether a message is from `first` on and before `end`; either limit may be missing."""
    if first is None and end is None:
        return True
    moment = datetime.fromisoformat(message.timestamp)
    if first is not None and moment < first:
        return False
    return end is None or moment < end


def _moment(option: str, written: str) -> datetime | None:
    """The time that an option gives, or the beginning of the days that it names; None for an empty
    one.

    Raises UsageError.
    """
    if not written:
        return None
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        from zkchat_cli.vault.search.query import read_date

        found = datetime.combine(read_date(option, written, date.today()).first, time.min)
    # The first day of the calendar has no local time
    return found.astimezone() if found.year > 1 else found.replace(tzinfo=UTC)


@command(COMMAND, *options.NOTES, examples=['zkchat sessions search "heat pump"'])
def search(
    ctx: CommandContext,
    text: Annotated[str, Argument(metavar="TEXT", help="Words to search for.")],
    everywhere: AllOption = False,
    limit: Annotated[
        int, Option("-n", "--limit", metavar="N", min=1, help="Number of messages.")
    ] = DEFAULT_LIMIT,
) -> None:
    """Search all messages; best matches first."""
    from zkchat_cli.views import stored_items

    with ctx.open_store(anywhere=everywhere) as (store, root):
        matches = store.search(None if everywhere else root, text, limit=limit, tool_results=False)
    documents = [stored_items.search_result_document(match, text) for match in matches]
    more = "" if everywhere or root is None else " --all searches the conversations of all vaults."
    ctx.print_result(
        documents, stored_items.search_result_lines(matches, text), f"No message matches.{more}"
    )


@command(COMMAND, *options.NOTES, examples=['zkchat sessions rename 3f2a "The roof"'])
def rename(
    ctx: CommandContext,
    id_: options.IdArgument,
    title: Annotated[str, Argument(metavar="TITLE", help="The new title.")],
) -> None:
    """Change a conversation's title."""
    title = " ".join(replace_surrogates(title).split())
    if not title:
        raise UsageError("the title is empty", 'For example: zkchat sessions rename ID "A title"')
    with ctx.open_store() as (store, root):
        conversation = store.find(id_, root)
        store.update(conversation.id, title=title)
    ctx.print_result(
        {**conversation.model_dump(mode="json"), "title": title},
        f"Renamed {conversation.id} to “{title}”.",
    )


@command(COMMAND, *options.NOTES, examples=["zkchat sessions delete 3f2a 91bc"])
def delete(
    ctx: CommandContext, ids: options.IdsArgument, yes: options.ConfirmOption = False
) -> None:
    """Delete conversations permanently, with all their branches."""
    from zkchat_cli.views.stored_items import display_title, size_and_time

    with ctx.open_store() as (store, root):
        found = [store.find(id_, root) for id_ in ids]
        # Each conversation once, even if it was named twice
        selected = list({each.id: each for each in found}.values())
        listed = ""
        for each in selected:
            listed += f"  {each.id}  {display_title(each)} ({size_and_time(each)})\n"
        question = sanitize(f"{listed}Delete permanently? This cannot be undone.")
        confirm(question, "sessions delete", yes=yes)
        store.delete(*(each.id for each in selected))
    deleted = (f"Deleted {each.id}: {display_title(each)}" for each in selected)
    ctx.print_result({"deleted": [each.id for each in selected]}, "\n".join(deleted))


@command(
    COMMAND,
    *options.NOTES,
    examples=["zkchat sessions share 3f2a --with bob", "zkchat sessions share 3f2a --all --write"],
)
def share(
    ctx: CommandContext,
    id_: options.IdArgument,
    user: Annotated[
        str, Option("--with", metavar="USER", help="Who may read it: a user of the server.")
    ] = "",
    everybody: Annotated[
        bool, Option("--all", help="Everybody who uses the store may read it.")
    ] = False,
    write: Annotated[bool, Option("--write", help="They may continue it, too.")] = False,
) -> None:
    """Share a conversation on a server, or list with whom it is shared."""
    if user and everybody:
        raise UsageError("--with and --all exclude each other", "Leave one of them out.")
    with ctx.open_store() as (store, root):
        sharing = _required_sharing(store)
        conversation = store.find(id_, root)
        if user or everybody:
            shared = sharing.share(conversation.id, user or None, may_write=write)
        elif write:
            raise UsageError("--write needs --with or --all", "Name who may continue it.")
        else:
            shared = sharing.shared_with(conversation.id)
    _print_shared(ctx, conversation.id, shared)


@command(COMMAND, *options.NOTES, examples=["zkchat sessions unshare 3f2a"])
def unshare(
    ctx: CommandContext,
    id_: options.IdArgument,
    user: Annotated[
        str, Option("--with", metavar="USER", help="Only this user; everybody if left out.")
    ] = "",
) -> None:
    """Stop sharing a conversation."""
    with ctx.open_store() as (store, root):
        sharing = _required_sharing(store)
        conversation = store.find(id_, root)
        shared = sharing.unshare(conversation.id, user or None)
    _print_shared(ctx, conversation.id, shared)


def _required_sharing(store: "SessionStore") -> "ConversationSharing":
    if store.sharing is None:
        raise UsageError(
            "conversations in a file cannot be shared",
            "Set store.url to a PostgreSQL server, or give somebody an export: zkchat context "
            "export",
        )
    return store.sharing


def _print_shared(
    ctx: CommandContext, conversation_id: str, shared: "Sequence[SharedWith]"
) -> None:
    users = [{"user": each.user, "write": each.may_write} for each in shared]
    listed = ", ".join(
        f"{each.user or 'everybody'} ({'read and write' if each.may_write else 'read'})"
        for each in shared
    )
    text = f"{conversation_id} is shared with {listed}." if listed else "It is not shared."
    ctx.print_result({"conversation_id": conversation_id, "shared_with": users}, text)


@command(
    COMMAND,
    *options.NOTES,
    examples=[
        "zkchat sessions graph -o graph.html",
        "zkchat sessions graph 3f2a --questions --format dot | dot -Tsvg > graph.svg",
    ],
)
def graph(
    ctx: CommandContext,
    ids: Annotated[
        list[str] | None,
        Argument(
            metavar="[ID...]",
            help="Conversation ids or unique prefixes; the newest if left out.",
            autocompletion=options.complete_conversations,
        ),
    ] = None,
    format_: FormatOption = None,
    output: OutputOption = None,
    questions: Annotated[
        bool, Option("--questions", help="Draw each question instead of its conversation.")
    ] = False,
    conversations: Annotated[
        int,
        Option(
            "--conversations", metavar="N", min=1, max=1000, help="Only the newest N conversations."
        ),
    ] = GRAPH_CONVERSATIONS,
    limit: NotesOption = GRAPH_NOTES,
    depth: Annotated[
        int,
        Option("--depth", metavar="N", min=0, max=5, help="Add notes up to N links away."),
    ] = 0,
) -> None:
    """Draw which notes the conversations named, found and cited, and the links between these
    notes.
    """
    from zkchat_cli.references.reference_graph import ConversationBranch, conversation_graph

    check_format(format_)
    with ctx.open_store(anywhere=False) as (store, root), ctx.indexed_vault() as (notes, _):
        if ids:
            found = [store.find(id_, root) for id_ in ids]
            # Each conversation once, even if it was named twice
            selected = list({each.id: each for each in found}.values())
        else:
            selected = store.conversations(root, conversations)
        branches = [ConversationBranch(each, store.history(each.id)) for each in selected]
        drawn = conversation_graph(
            branches, notes.graph, depth=depth, limit=limit, by_question=questions
        )
    print_graph(ctx, drawn, format_, output)
    if not drawn.nodes:
        ctx.screen.remark("No answer of these conversations used a note.")
    elif drawn.omitted.conversations:
        unused = plural(drawn.omitted.conversations, "conversation")
        ctx.screen.remark(f"{unused} without a note in the drawing left out.")
