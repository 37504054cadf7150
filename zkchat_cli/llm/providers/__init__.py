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
