"""A statement that each summary of a conversation keeps."""

from zkchat_cli.models.base import Value


class CarriedStatement(Value):
    """A decision of the user, or a number with its name, that a summary stated and the following
    ones keep. `replaced` are the numbers that it had before, oldest first.
    """

    text: str
    decided: bool = False
    replaced: tuple[str, ...] = ()
    # The number that replaced those
    value: str | None = None

    @property
    def line(self) -> str:
        """The statement as a line of a summary: `- user: We pay 410 euros. (was 378, now 410)`"""
        speaker = "user: " if self.decided else ""
        if not self.replaced:
            return f"- {speaker}{self.text}"
        # Without its full stop, so that the statement and what it replaced are one sentence
        before = f"(was {', '.join(self.replaced)}, now {self.value})"
        return f"- {speaker}{self.text.rstrip('.。!！')} {before}"
