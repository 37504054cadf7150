"""Starts the window and runs it until it is closed."""

import signal
import sys
from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from zkchat_cli.app.factory import App
from zkchat_cli.gui.window import ChatWindow

SIGNAL_INTERVAL = 200
"""Milliseconds between two moments in which Python sees a signal, such as Ctrl-C in the terminal that started the window."""


def run(open_app: Callable[[], App], resume: str | None) -> int:
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    application.setApplicationName("zkchat")
    window = ChatWindow(open_app, resume)
    signal.signal(signal.SIGINT, lambda *_: window.close())
    timer = QTimer(interval=SIGNAL_INTERVAL)
    timer.timeout.connect(lambda: None)
    timer.start()
    window.show()
    return application.exec()
