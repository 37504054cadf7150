"""Registry: one way to compute vectors of texts per file, each declaring `EMBEDDER`. The first call
reports what is wrong.
"""

from zkchat_cli.llm.base import EmbeddingProvider
from zkchat_cli.registry import Registry

EMBEDDERS: Registry[EmbeddingProvider] = Registry(__name__, "EMBEDDER")
names = EMBEDDERS.names
embedder = EMBEDDERS.load
