"""Libraries that would print are made to log, and logging goes nowhere unless somebody asked for a file (`--verbose`).

mojentic calls `logging.basicConfig(INFO)` and sets structlog to JSON lines on stderr when it is imported. With a handler on the root
logger, the first does nothing and the second ends there.
"""

import logging


def silence_libraries() -> None:
    """To be called before such a library is imported; may be called again."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.NullHandler())
    logging.captureWarnings(True)
