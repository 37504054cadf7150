"""/config: show settings; KEY VALUE changes one for this session.

Part of a key (`context`) shows that group. Changes end with the chat; `zkchat config set KEY VALUE` makes them permanent.
"""

from typing import Any

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config import loader
from zkchat_cli.llm.providers import settings_schema, with_provider_tables
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def _config(session: ZkChatSession, argument: str) -> CommandResult:
    key, value = (*argument.removeprefix("set ").split(maxsplit=1), "", "")[:2]  # `config set`, as in the shell
    if value:
        changed = session.override_setting(key, value)
        return CommandResult(
            f"{key} = {loader.as_toml(changed)} until this chat ends. To make it permanent: zkchat config set {key} {value}"
        )
    schema, values = settings_schema(), loader.flatten(with_provider_tables(session.runtime.settings))
    defaults = loader.default_values(schema)
    if key in values:
        description = styled_line(f"  {loader.describe_setting(key, schema)}", "dim")
        return CommandResult(lines=[_setting_line(key, values[key], defaults[key]), description])
    selected = [each for each in values if each.startswith(key.rstrip(".") + ".")] if key else list(values)
    if not selected:
        loader.require_known_key(key, "/config", schema)
    return CommandResult(lines=[_setting_line(each, values[each], defaults[each]) for each in selected], paged=1)


def _setting_line(key: str, value: Any, default: Any) -> StyledLine:
    changed = () if value == default else (StyledSpan(f"default: {loader.as_toml(default)}", "dim"),)
    return StyledLine((StyledSpan(key, "cyan" if changed else ""), StyledSpan(f" = {loader.as_toml(value)}")), changed)


def _setting_keys(_session: ZkChatSession) -> dict[str, str]:
    return {key: loader.describe_setting(key, settings_schema()) for key in loader.default_values(settings_schema())}


COMMAND = SlashCommand(_config, "[KEY [VALUE]]", _setting_keys)
