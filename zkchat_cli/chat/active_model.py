"""The model that a conversation uses: its window and budget, what else there is, and how it counts."""

import threading
from dataclasses import replace

from zkchat_cli.chat.runtime import AvailableModels, Runtime
from zkchat_cli.context.budget import MESSAGE_OVERHEAD, Budget
from zkchat_cli.errors import UsageError
from zkchat_cli.llm.base import Window
from zkchat_cli.models import Prompt

OFFERS_LAST = 60.0
"""Seconds for which a server's list of models is taken for current."""
CALIBRATION = (0.5, 5.0)
STEADY = 0.02
"""How far (a share of it) a calibration may move before the conversation is counted anew: that takes a second for 5 000 turns."""
PLAUSIBLE = (0.25, 10.0)
DEFAULT_WINDOW = "the default, as nothing says how large the model's is"


class ActiveModel:
    """What works with a model, and may go on with another."""

    def __init__(self, parts: Runtime) -> None:
        self.parts = parts
        self.refusal: Window | None = None
        """What this model's server was found not to take more than, by its own words or by guess; until another model is used."""
        self._offers: tuple[float, tuple[AvailableModels, ...]] | None = None
        self._counting = (1.0, True)

    @property
    def window(self) -> Window:
        """The context window in use, and who says so."""
        known = self.parts.window or self.parts.model.window or Window(self.parts.max_context, DEFAULT_WINDOW)
        return min(known, self.refusal, key=lambda window: window.tokens) if self.refusal else known

    @property
    def budget(self) -> Budget:
        window = self.window
        return Budget.from_settings(self.parts.settings.context, window.tokens, window.source)

    def use_model(self, name: str) -> None:
        """Go on with another model; the next prompt keeps to its window. Raises ConfigError and ProviderError, and then nothing changes."""
        if self.parts.use is None:
            raise UsageError("this conversation cannot change its model", "Start another with --model.")
        using = self.parts.use(name)
        self.parts = replace(self.parts, model=using.model, tools=using.tools, settled={**self.parts.settled, "model": name})
        self.refusal = None
        self.calibrate()

    def list_models(self) -> tuple[AvailableModels, ...]:
        """The models that could be used instead; asked for anew after a minute."""
        now = self.parts.clock()
        if self._offers is None or now - self._offers[0] > OFFERS_LAST:
            self._offers = now, self.parts.offers()
        return self._offers[1]

    def prepare(self, seconds: float | None = None) -> None:
        """Wait (for so long at most) for what the model still has to load or to find out, and count and budget by it.

        On another thread, so that one can stop waiting without harm.
        """
        thread = threading.Thread(target=self.parts.model.prepare, name="prepare model", daemon=True)
        thread.start()
        thread.join(seconds)
        self.calibrate()

    def learned(self, prompt: Prompt, reported: int) -> float | None:
        """How many tokens the model makes of each that zkchat counts, by how many its provider counted in a prompt.

        None for what is far off (a server that counts only what was not in its cache): that is no measure.
        """
        overhead = MESSAGE_OVERHEAD * len(prompt.messages)
        raw = (prompt.usage.total_tokens - overhead) / self.parts.counter.factor
        factor = (reported - overhead) / raw if raw else 0.0
        if PLAUSIBLE[0] <= factor <= PLAUSIBLE[1]:
            return max(CALIBRATION[0], min(CALIBRATION[1], factor))
        return None

    def calibrate(self) -> bool:
        """Count as this model is known to count; whether that changes anything."""
        factor, exact = self.parts.store.calibration(self.parts.model.name), self.parts.model.exact
        used, was_exact = self._counting
        if exact == was_exact and abs(factor - used) <= STEADY * used:
            return False
        self._counting = (factor, exact)
        self.parts = replace(self.parts, counter=self.parts.counter.calibrated(factor, exact=exact))
        return True
