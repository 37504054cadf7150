"""Registry: one way to get vectors for texts per file, each declaring `make_embedder`. The first
call reports what is wrong.
"""

from collections.abc import Callable

from zkchat_cli.llm.base import EmbedderConfig
from zkchat_cli.registry import Registry
from zkchat_cli.vault.search.embedder import Embedder

EMBEDDERS: Registry[Callable[[EmbedderConfig], Embedder]] = Registry(__name__, "make_embedder")
names = EMBEDDERS.names
embedder = EMBEDDERS.load
