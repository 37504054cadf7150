"""The keys of an agent's file."""

from typing import Literal

from pydantic import Field

from zkchat_cli.config.schema import ContextSettings, Section, TextList


class AgentFileSchema(Section):
    """A missing key means the setting, whatever the default here."""

    description: str = Field("", description="what it is for, in a line")
    model: str = Field("", description="PROVIDER/NAME; --model and ZKCHAT_MODEL override it")
    system_prompt: str = Field("", description="its instructions, added to zkchat's own on searching and citing")
    tools: TextList = Field((), description="the tools it may call; all of them if left out, none if []")
    strategy: str = Field("", description="hybrid, summarize or discard")
    temperature: float = Field(-1, ge=-1, le=2, description="sampling temperature; below 0: the model's own default")
    memory: bool = Field(True, description="include memory in its prompts: memory files, facts and its own file")
    user_memory: bool = Field(True, description="whether it gets your own memory file")
    project_memory: bool = Field(True, description="whether it gets the memory files of the vault")
    agent_memory: bool = Field(True, description="whether it gets its own memory file")
    smart_memory: Literal["shared", "own"] = Field("shared", description="whether facts that it remembers are for all agents or for itself")
    context: ContextSettings = ContextSettings()
