"""The program around the window: `run_window` is what `zkchat gui` calls."""

import signal
from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from zkchat_cli.app.factory import App
from zkchat_cli.gui.window import ChatWindow

# Milliseconds until a signal is noticed, such as Ctrl-C in the terminal that started the window
SIGNAL_INTERVAL = 200


def run_window(open_app: Callable[[], App], resume: str | None) -> int:
    """Show the window until it is closed, and return the exit code.

    `open_app` opens the vault, in another thread; `resume` is the id of a conversation, or the
    beginning of one.
    """
    application = QApplication(["zkchat"])
    window = ChatWindow(open_app, resume)
    signal.signal(signal.SIGINT, lambda *_: window.close())
    # Python handles a signal only while it runs, so it must run now and then
    timer = QTimer(interval=SIGNAL_INTERVAL)
    timer.timeout.connect(lambda: None)
    timer.start()
    window.show()
    return application.exec()
