"""Shows settings, or changes one for this session."""

from collections.abc import Iterator, Mapping

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config import loader, provider_tables
from zkchat_cli.slash.base import Lines, Topic, declare_command, split_first_word
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def config(session: ZkChatSession, argument: str) -> Lines:
    """Show settings; KEY VALUE changes one for this session.

    Part of a key (`context`) shows that group. Changes end with the chat; `zkchat config set KEY
    VALUE` makes them permanent.
    """
    # `config set`, as in the shell
    key, value = split_first_word(argument.removeprefix("set "))
    if value:
        stored = loader.as_toml(session.runtimes.override_setting(key, value))
        yield styled_line(
            f"{key} = {stored} until this chat ends. To make it permanent: zkchat config set {key} "
            f"{value}",
            indent=0,
        )
        return
    yield from _setting_lines(loader.flatten(session.runtime.settings), key)


def _setting_lines(values: Mapping[str, object], key: str) -> Iterator[StyledLine]:
    """The settings with this key or below it; all for an empty key. Raises ConfigError."""
    selected = list(values)
    if key:
        group = f"{key.rstrip('.')}."
        selected = [each for each in values if each == key or each.startswith(group)]
    if not selected:
        loader.require_known_key(key, "/config")
    defaults = loader.default_values()
    for each in selected:
        is_default = values[each] == defaults[each]
        name = StyledSpan(each, "" if is_default else "cyan")
        value = StyledSpan(f" = {loader.as_toml(values[each])}")
        default = StyledSpan(f"default: {loader.as_toml(defaults[each])}", "dim")
        yield StyledLine((name, value), () if is_default else (default,))
    if key in values:
        yield styled_line(f"  {provider_tables.describe_setting(key)}", "dim")


def _keys(_session: ZkChatSession) -> dict[str, str]:
    return {key: provider_tables.describe_setting(key) for key in loader.default_values()}


COMMAND = declare_command(config, Topic.SETTINGS, order=30, argument="[KEY [VALUE]]", values=_keys)
