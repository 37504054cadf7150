"""/config: the settings of this session; a key alone shows one, with a value it holds until the chat ends."""

import json
from typing import Any

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config import loader
from zkchat_cli.config import schema as config_schema
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    key, value = (*argument.split(maxsplit=1), "", "")[:2]
    if value:
        now = session.override_setting(key, value)
        return CommandResult(f"{key} = {_shown(now)} until this chat ends. For good: zkchat config set {key} {value}")
    settings = session.settings
    schema, values = type(settings), loader.flat(settings)
    if key in values:
        return CommandResult(lines=[_line(key, values[key], schema), styled_line(f"  {loader.describe(key, schema)}", "dim")])
    chosen = [each for each in values if each.startswith(key.rstrip(".") + ".")] if key else list(values)
    if not chosen:
        loader.require(key, "/config", schema)
    return CommandResult(lines=[_line(each, values[each], schema) for each in chosen], paged=True)


def _line(key: str, value: Any, schema: type[config_schema.Config]) -> StyledLine:
    default = loader.keys(schema)[key]
    other = () if value == default else (StyledSpan(f"default: {_shown(default)}", "dim"),)
    return StyledLine((StyledSpan(key, "cyan" if other else ""), StyledSpan(f" = {_shown(value)}")), other)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _keys(session: ZkChatSession) -> list[str]:
    schema = type(session.settings)
    return [CompletionValue(key, loader.describe(key, schema)) for key in loader.keys(schema)]


COMMAND = SlashCommand(
    "config",
    "the settings; KEY VALUE sets one for this session",
    _run,
    "[KEY [VALUE]]",
    _keys,
    more="A part of a key (`context`) shows that group. What is set here ends with the chat; `zkchat config set KEY VALUE` keeps it.",
)
