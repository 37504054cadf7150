"""mojentic's gateways to model servers, over zkchat's own connections. Importing this package
imports mojentic, which takes a second.

mojentic makes the attempts of a call: it sends each, decodes its frames into typed events, decides
whether another may follow and waits for it, and ends with a typed outcome. What is below is ours:
the body of the request, and the connection, which limits what a server can send and reads the many
forms of an answer that mojentic's decoders reject.
"""

import logging
import os

# mojentic calls logging.basicConfig(INFO) on import and lets structlog write JSON lines to stderr.
# With a handler on the root logger the former does nothing and the latter ends there: in the log,
# which is empty without --verbose.
if not logging.getLogger().handlers:
    logging.getLogger().addHandler(logging.NullHandler())
logging.captureWarnings(True)


# mojentic imports ollama, which makes a client on import. zkchat never uses it, but it reads these
# variables and fails if one is wrong: if it names a SOCKS proxy, or a network in NO_PROXY. zkchat
# reads them itself, and says what is wrong if it matters.
try:
    import ollama
except Exception:  # noqa: BLE001
    read_by_ollama = (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "ollama_host",
        "ssl_cert_file",
        "ssl_cert_dir",
    )
    hidden = {
        name: os.environ.pop(name) for name in list(os.environ) if name.lower() in read_by_ollama
    }
    try:
        import ollama  # noqa: F401
    finally:
        os.environ.update(hidden)
