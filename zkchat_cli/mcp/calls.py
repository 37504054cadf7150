"""Calls of tools on threads of their own, which end when the call is cancelled or the client
leaves.

A thread of a pool would work on for a client that is gone, and hold the end of the program.
"""

import asyncio
import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import TypeVar

R = TypeVar("R")


class _CallStopped(BaseException):
    """Raised in the thread of a call that was cancelled."""


async def run_in_thread(work: Callable[[], R]) -> R:
    """The result of some work, or the error that it raises. If the caller is cancelled, the work is
    stopped before its next step in Python.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[R] = loop.create_future()
    context = copy_context()

    def set_result(value: R) -> None:
        if not result.done():
            result.set_result(value)

    def set_error(error: BaseException) -> None:
        if not result.done():
            result.set_exception(error)

    def run() -> None:
        # RuntimeError: the loop has ended, and nobody waits any more
        with suppress(_CallStopped, RuntimeError):
            try:
                value = context.run(work)
            except Exception as e:  # noqa: BLE001 – the caller gets it
                loop.call_soon_threadsafe(set_error, e)
            else:
                loop.call_soon_threadsafe(set_result, value)

    thread = threading.Thread(target=run, name="mcp call", daemon=True)
    thread.start()
    try:
        return await result
    except asyncio.CancelledError:
        _stop(thread)
        raise


def _stop(thread: threading.Thread) -> None:
    if thread.is_alive() and thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(_CallStopped)
        )
