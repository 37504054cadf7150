"""/config: show settings; KEY VALUE changes one for this session.

Part of a key (`context`) shows that group. Changes end with the chat; `zkchat config set KEY VALUE` makes them permanent.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config import loader
from zkchat_cli.llm.providers import settings_schema, with_provider_tables
from zkchat_cli.slash.base import Lines, slash_command
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


@slash_command(
    "[KEY [VALUE]]", lambda _: {key: loader.describe_setting(key, settings_schema()) for key in loader.default_values(settings_schema())}
)
def run(session: ZkChatSession, argument: str) -> Lines:
    key, value = (*argument.removeprefix("set ").split(maxsplit=1), "", "")[:2]  # `config set`, as in the shell
    if value:
        shown = loader.as_toml(session.override_setting(key, value))
        yield styled_line(f"{key} = {shown} until this chat ends. To make it permanent: zkchat config set {key} {value}", indent=0)
        return
    schema, values = settings_schema(), loader.flatten(with_provider_tables(session.runtime.settings))
    defaults = loader.default_values(schema)
    selected = [each for each in values if not key or each == key or each.startswith(key.rstrip(".") + ".")]
    if not selected:
        loader.require_known_key(key, "/config", schema)
    for each in selected:
        is_default = values[each] == defaults[each]
        default = () if is_default else (StyledSpan(f"default: {loader.as_toml(defaults[each])}", "dim"),)
        yield StyledLine((StyledSpan(each, "" if is_default else "cyan"), StyledSpan(f" = {loader.as_toml(values[each])}")), default)
    if key in values:
        yield styled_line(f"  {loader.describe_setting(key, schema)}", "dim")
