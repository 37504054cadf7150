"""Registry: one provider per file, each declaring `PROVIDER`."""

from zkchat_cli.llm.base import Provider
from zkchat_cli.registry import Registry

PROVIDERS: Registry[Provider] = Registry(__name__, "PROVIDER")
names = PROVIDERS.names
provider = PROVIDERS.load


def suggested_names() -> list[str]:
    """The providers that errors and completion name: all but the one for tests and
    demonstrations.
    """
    return [name for name in names() if name != "scripted"]


def provider_of_family(model: str) -> str | None:
    """The provider of a well-known model that is named without one, such as `qwen3`; None if the
    beginning of its name is unknown. The longest known beginning counts: `gpt-oss` is not `gpt-`.
    """
    lower = model.lower()
    found: str | None = None
    longest = 0
    for name in names():
        for family in provider(name).model_families:
            if lower.startswith(family) and len(family) > longest:
                found = name
                longest = len(family)
    return found
