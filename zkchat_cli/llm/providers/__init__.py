"""Registry: one provider per file, each declaring `PROVIDER`."""

import sys
from functools import cache

from zkchat_cli import registry
from zkchat_cli.config.schema import Config, with_tables
from zkchat_cli.llm.base import Provider


def names() -> list[str]:
    return registry.names(sys.modules[__name__])


def suggested_names() -> list[str]:
    """The providers that errors and completion name: all but the one for tests and demonstrations."""
    return [name for name in names() if name != "scripted"]


def provider(name: str) -> Provider:
    """Raises KeyError for an unknown name."""
    found: Provider = registry.load(sys.modules[__name__], name, "PROVIDER")
    return found


@cache
def settings_schema() -> type[Config]:
    """The schema of all settings: zkchat's own and the tables of the providers. Loads all providers, in 17 ms."""
    return with_tables({name: provider(name).settings for name in names()})


def with_provider_tables(values: Config) -> Config:
    """The settings with the tables of all providers: without them those are missing that nothing sets."""
    return settings_schema().model_validate({name: getattr(values, name) for name in type(values).model_fields})
