"""What llm/ expects of mojentic and of Anthropic's SDK beyond their documentation. It fails if a pinned version was changed."""

import inspect
from importlib.metadata import version

from zkchat_cli.llm import mojentic_adapter  # isort: skip  it makes mojentic log instead of print
from mojentic.llm.gateways.openai_recovery import OpenAIStreamRecovery
from mojentic.llm.recovery_stream import recover_stream

ADAPTER = mojentic_adapter.__file__


def test_mojentic_has_the_version_that_the_adapter_was_tested_with() -> None:
    message = f"{ADAPTER} was tested with mojentic 3.0.0. Run all tests with the new version, then change the pin and this test."
    assert version("mojentic") == "3.0.0", message


def test_anthropics_sdk_has_the_version_that_the_reader_was_tested_with() -> None:
    message = "llm/anthropic_chat.py was tested with anthropic 2.12.0. Run all tests with the new one, then change the pin and this test."
    assert version("anthropic") == "2.12.0", message


def test_a_stream_takes_the_class_of_its_engine() -> None:
    message = f"recover_stream no longer takes `_engine_type`, with which {ADAPTER} puts its reader in front of mojentic's decoder."
    assert "_engine_type" in inspect.signature(recover_stream).parameters, message


def test_the_engine_makes_each_attempt_with_a_client_that_it_is_given() -> None:
    exchange = getattr(OpenAIStreamRecovery, "exchange_stream", None)
    message = f"OpenAIStreamRecovery.exchange_stream has changed; {ADAPTER} overrides it to use its own client."
    assert exchange, message
    assert list(inspect.signature(exchange).parameters) == ["self", "client", "url", "body", "headers", "attempt", "decode"], message
