"""What llm/ expects of mojentic and of Anthropic's SDK beyond their documentation. It fails if a pinned version was changed."""

import inspect

from zkchat_cli.llm import mojentic_adapter  # isort: skip  it makes mojentic log instead of print
from mojentic.llm.gateways.openai_recovery import OpenAIStreamRecovery
from mojentic.llm.recovery_stream import recover_stream

ADAPTER = mojentic_adapter.__file__


def test_a_stream_takes_the_class_of_its_engine() -> None:
    message = f"recover_stream no longer takes `_engine_type`, with which {ADAPTER} puts its reader in front of mojentic's decoder."
    assert "_engine_type" in inspect.signature(recover_stream).parameters, message


def test_the_engine_makes_each_attempt_with_a_client_that_it_is_given() -> None:
    exchange = getattr(OpenAIStreamRecovery, "exchange_stream", None)
    message = f"OpenAIStreamRecovery.exchange_stream has changed; {ADAPTER} overrides it to use its own client."
    assert exchange, message
    assert list(inspect.signature(exchange).parameters) == ["self", "client", "url", "body", "headers", "attempt", "decode"], message
