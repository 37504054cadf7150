"""/config: the settings of this session; a key alone shows one, with a value it holds until the chat ends."""

import json
from typing import Any

from zkchat_cli import config, settling
from zkchat_cli.lines import Line, Span, line
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Offer, Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:
    key, value = (*argument.split(maxsplit=1), "", "")[:2]
    if value:
        now = settling.change(session, key, value)
        return Outcome(f"{key} = {_shown(now)} until this chat ends. For good: zkchat config set {key} {value}")
    settings = session.parts.settings
    schema, values = type(settings), config.flat(settings)
    if key in values:
        return Outcome(lines=[_line(key, values[key], schema), line(f"  {config.describe(key, schema)}", "dim")])
    chosen = [each for each in values if each.startswith(key.rstrip(".") + ".")] if key else list(values)
    if not chosen:
        config.require(key, "/config", schema)
    return Outcome(lines=[_line(each, values[each], schema) for each in chosen], paged=True)


def _line(key: str, value: Any, schema: type[config.Config]) -> Line:
    default = config.keys(schema)[key]
    other = () if value == default else (Span(f"default: {_shown(default)}", "dim"),)
    return Line((Span(key, "cyan" if other else ""), Span(f" = {_shown(value)}")), other)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _keys(session: ZkChatSession) -> list[str]:
    schema = type(session.parts.settings)
    return [Offer(key, config.describe(key, schema)) for key in config.keys(schema)]


COMMAND = SlashCommand(
    "config",
    "the settings; KEY VALUE sets one for this session",
    _run,
    "[KEY [VALUE]]",
    _keys,
    more="A part of a key (`context`) shows that group. What is set here ends with the chat; `zkchat config set KEY VALUE` keeps it.",
)
