"""The skill that tells agents how to work with the notes: the file that `mcp install --skill`
writes, and that the server serves as `skill://zkchat/SKILL.md`.
"""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from zkchat_cli.vault.front_matter import read_front_matter

SKILL_FILE = Path(__file__).with_name("SKILL.md")


class SkillFile(NamedTuple):
    """The text of the skill and the properties of its front matter."""

    text: str
    front_matter: dict[str, str]

    @property
    def name(self) -> str:
        """Its name, which is that of its folder, too."""
        return self.front_matter["name"]

    @property
    def description(self) -> str:
        """When an agent should use it."""
        return self.front_matter["description"]

    @property
    def uri(self) -> str:
        """Its address."""
        return f"skill://{self.name}/SKILL.md"

    def describe(self) -> dict[str, Any]:
        """The entry of the skill in the form of the Skills extension (SEP-2640), with the digest
        of its only file.
        """
        content = self.text.encode()
        digest = hashlib.sha256(content).hexdigest()
        file = {"uri": self.uri, "digest": f"sha256:{digest}", "size": len(content)}
        return {"uri": self.uri, "frontmatter": self.front_matter, "resources": [file]}


def read_skill_file() -> SkillFile:
    """The skill of this version of zkchat."""
    text = SKILL_FILE.read_text(encoding="utf-8")
    written = read_front_matter(text).written
    return SkillFile(text, {name: values[0] for name, values in written.items()})
