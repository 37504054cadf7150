"""A function as a tool of mojentic's."""

from collections.abc import Callable, Mapping
from typing import Any

from mojentic.llm.tools.llm_tool import LLMTool
from mojentic.tracer.tracer_system import TracerSystem

CallFunction = Callable[[Mapping[str, Any]], dict[str, object]]


class FunctionTool(LLMTool):  # type: ignore[misc]
    """A tool that any program of mojentic's can offer to its model: `call` gets the arguments by
    name and returns the result. Calls are recorded in `tracer`.
    """

    def __init__(
        self, descriptor: Mapping[str, Any], call: CallFunction, tracer: TracerSystem | None = None
    ) -> None:
        super().__init__(tracer)
        self._descriptor = dict(descriptor)
        self._call = call

    @property
    def descriptor(self) -> dict[str, Any]:
        """The tool in the OpenAI function form."""
        return self._descriptor

    def run(self, ctx: object = None, **arguments: Any) -> dict[str, object]:  # noqa: ARG002
        """The result of a call. mojentic's runners pass their context as `ctx`, unasked."""
        return self._call(arguments)
