"""The address of a store on a server, as text: nothing here connects to it."""

import re

LOCAL_HOSTS = ("localhost", "localhost.localdomain", "ip6-localhost")
SCHEMES = ("postgresql://", "postgres://")
_HIDDEN = "***"
# The password of `user:password@host`: up to the last `@` of the part before the path, or, if the
# password has a slash, of the whole text
_PASSWORD = re.compile(r"([a-z][a-z0-9+.-]{0,30}://[^:@/\s]*:)(?:[^/\s]*|\S*)@", re.IGNORECASE)
_PARAMETER = re.compile(r"((?:ssl)?password=)[^&\s]*", re.IGNORECASE)


def hide_password(text: str) -> str:
    """`text` with `***` in place of each password of a server's address in it."""
    return _PARAMETER.sub(rf"\g<1>{_HIDDEN}", _PASSWORD.sub(rf"\g<1>{_HIDDEN}@", text))
