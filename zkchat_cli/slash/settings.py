"""Commands that change the model and the settings until the chat ends."""

import json
from typing import Any

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config import loader
from zkchat_cli.llm import providers
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line


def _model(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        session.use_model(_full_name(session, argument))
        session.prepare()
        return CommandResult(f"Switched to {_describe_model(session)}")
    offers = session.list_models()
    lines = [f"  {name}" for offer in offers for name in offer.names]
    lines += [f"  {offer.provider}: {offer.problem}" for offer in offers if offer.problem]
    available = ["Available:", *lines] if lines else []
    with_server = [name for name in providers.names() if providers.provider(name).server_info is not None]
    hint = f"/model PROVIDER/NAME switches to another; providers: {', '.join(with_server)}."
    return CommandResult("\n".join([_describe_model(session), *available, hint]))


def _full_name(session: ZkChatSession, argument: str) -> str:
    """The one available model with this name, if the provider was left out; else the argument."""
    available = _model_names(session) if "/" not in argument else []
    matches = [name for name in available if argument == name.partition("/")[2]]
    return matches[0] if len(matches) == 1 else argument


def _describe_model(session: ZkChatSession) -> str:
    window = session.runtime.window
    return f"{session.runtime.model.name}, context window {window.tokens:,} tokens ({window.source})"


def _model_names(session: ZkChatSession) -> list[str]:
    return [name for offer in session.list_models() for name in offer.names]


def _config(session: ZkChatSession, argument: str) -> CommandResult:
    key, value = (*argument.split(maxsplit=1), "", "")[:2]
    if value:
        changed = session.override_setting(key, value)
        return CommandResult(f"{key} = {_to_json(changed)} until this chat ends. To make it permanent: zkchat config set {key} {value}")
    schema, values = type(session.runtime.settings), loader.flatten(session.runtime.settings)
    defaults = loader.default_values(schema)
    if key in values:
        description = styled_line(f"  {loader.describe_setting(key, schema)}", "dim")
        return CommandResult(lines=[_setting_line(key, values[key], defaults[key]), description])
    selected = [each for each in values if each.startswith(key.rstrip(".") + ".")] if key else list(values)
    if not selected:
        loader.require_known_key(key, "/config", schema)
    return CommandResult(lines=[_setting_line(each, values[each], defaults[each]) for each in selected], paged=True)


def _setting_line(key: str, value: Any, default: Any) -> StyledLine:
    changed = () if value == default else (StyledSpan(f"default: {_to_json(default)}", "dim"),)
    return StyledLine((StyledSpan(key, "cyan" if changed else ""), StyledSpan(f" = {_to_json(value)}")), changed)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _setting_keys(session: ZkChatSession) -> list[str]:
    schema = type(session.runtime.settings)
    return [CompletionValue(key, loader.describe_setting(key, schema)) for key in loader.default_values(schema)]


def _verbose(session: ZkChatSession) -> CommandResult:
    session.verbose = not session.verbose
    if not session.verbose:
        return CommandResult("Details are off.")
    return CommandResult("Details are on: reasoning, full tool arguments, times and tokens. /verbose turns them off.")


COMMANDS = (
    SlashCommand(
        "model",
        "show the model; PROVIDER/NAME switches to another",
        _model,
        "[PROVIDER/NAME]",
        _model_names,
        "The conversation stays and is sent to the new model. This lasts until the chat ends; `zkchat config set model PROVIDER/NAME` "
        "makes it permanent.",
    ),
    SlashCommand(
        "config",
        "show settings; KEY VALUE changes one for this session",
        _config,
        "[KEY [VALUE]]",
        _setting_keys,
        "Part of a key (`context`) shows that group. Changes end with the chat; `zkchat config set KEY VALUE` makes them permanent.",
    ),
    SlashCommand("verbose", "show or hide the details of each turn", lambda session, _: _verbose(session)),
)
