"""The Skills extension of the protocol: `skills/list` and `skills/get` for the one skill that
zkchat has. Its file is a resource. The SDK does not have the extension yet.
"""

from collections.abc import Sequence
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.shared.exceptions import MCPError

from zkchat_cli.mcp.cache_hints import FIXED_MILLISECONDS
from zkchat_cli.mcp.skill_file import SkillFile
from zkchat_cli.text.truncate import truncate

_HINTS = {"ttlMs": FIXED_MILLISECONDS, "cacheScope": "public"}


class _GetSkillParams(types.RequestParams):
    uri: str


class SkillsExtension(Extension):
    """Lists the skill, and answers for its address. Its directory cannot be read: it has one
    file.
    """

    identifier = "io.modelcontextprotocol/skills"

    def __init__(self, skill: SkillFile) -> None:
        self._entry = skill.describe()

    def methods(self) -> Sequence[MethodBinding]:
        """The two requests that each server with skills must answer."""
        return (
            MethodBinding("skills/list", types.PaginatedRequestParams, self._list_skills),
            MethodBinding("skills/get", _GetSkillParams, self._get_skill),
        )

    async def _list_skills(
        self, _: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        if params.cursor is not None:
            raise MCPError(
                types.INVALID_PARAMS, "This cursor is from no list: there is one page of skills."
            )
        return {"skills": [self._entry], **_HINTS}

    async def _get_skill(
        self, _: ServerRequestContext[Any, Any], params: _GetSkillParams
    ) -> dict[str, Any]:
        if params.uri != self._entry["uri"]:
            problem = f"No skill is served at {truncate(params.uri, 100)}."
            raise MCPError(types.INVALID_PARAMS, problem, {"uri": params.uri})
        return {"skill": self._entry, **_HINTS}
