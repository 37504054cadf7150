"""The tables of the settings file that are declared elsewhere: each provider declares its own.

Providers are above this package, so they are found by the name of their registry and not by an
import. A provider is loaded only if its table is used: `zkchat ask` with the offline provider
should not pay for loading the others.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, Protocol

from pydantic import create_model

from zkchat_cli.config.schema import (
    DEFAULT_EMBEDDING_MODELS,
    EMBEDDER_NAMES,
    Config,
    Section,
)
from zkchat_cli.registry import Registry


class DeclaresSettings(Protocol):
    """A provider, as far as the settings are concerned."""

    @property
    def settings(self) -> type[Section]:
        """The class of its table; `Section` itself for a provider without settings."""


class DeclaresDefaultModel(Protocol):
    """An embedder, as far as the settings are concerned."""

    @property
    def default_model(self) -> str:
        """The model that it uses if `semantic.model` is empty; empty if it has none."""


PROVIDERS: Registry[DeclaresSettings] = Registry("zkchat_cli.llm.providers", "PROVIDER")
EMBEDDERS: Registry[DeclaresDefaultModel] = Registry("zkchat_cli.llm.embedders", "EMBEDDER")


def provider_tables(names: Iterable[str] | None = None) -> dict[str, type[Section]]:
    """The classes of the providers' tables by name: of all providers, or of these names. A name
    that no provider has is left out, and so is a provider without settings.
    """
    wanted = PROVIDERS.names() if names is None else sorted({*names} & {*PROVIDERS.names()})
    declared = {name: PROVIDERS.load(name).settings for name in wanted}
    return {name: table for name, table in declared.items() if table.model_fields}


def config_schema(names: Iterable[str] | None = None) -> type[Config]:
    """`Config` with the tables of all providers, or of those that `names` lists."""
    if names is None:
        tables = provider_tables()
    else:
        others = {*names} - {*Config.model_fields}
        tables = provider_tables(others) if others else {}
    return _with_tables(tuple(tables.items())) if tables else Config


@cache
def _with_tables(tables: tuple[tuple[str, type[Section]], ...]) -> type[Config]:
    """`Config` with these tables. It is made once for each choice: pydantic takes 4 ms for it."""
    fields: dict[str, Any] = {name: (table, table()) for name, table in tables}
    return create_model("Config", __base__=Config, **fields)


def is_provider_setting(key: str) -> bool:
    """Whether a dotted key is a setting of a provider."""
    table, _, name = key.partition(".")
    if table in Config.model_fields:
        return False
    return any(name in declared.model_fields for declared in provider_tables([table]).values())


def describe_setting(key: str) -> str:
    """What a setting is for, in a line."""
    table, _, name = key.rpartition(".")
    section: type[Section] = Config
    if table in Config.model_fields:
        section = type(getattr(Config(), table))
    elif table:
        section = provider_tables([table])[table]
    description = section.model_fields[name].description or ""
    if EMBEDDER_NAMES in description:
        description = description.replace(EMBEDDER_NAMES, _embedder_names())
    if DEFAULT_EMBEDDING_MODELS in description:
        description = description.replace(DEFAULT_EMBEDDING_MODELS, _default_embedding_models())
    return description


def _embedder_names() -> str:
    """The values of `semantic.provider`, as its description lists them."""
    *names, last = sorted(["none", *EMBEDDERS.names()])
    return f"{', '.join(names)} or {last}"


def _default_embedding_models() -> str:
    """The models that embedders use if `semantic.model` is empty, each with its embedder."""
    defaults = ((EMBEDDERS.load(name).default_model, name) for name in EMBEDDERS.names())
    return " or ".join(f"{model} ({name})" for model, name in defaults if model)
