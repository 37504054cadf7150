"""Starts the window and runs it until it is closed."""

import signal
from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from zkchat_cli.app.factory import App
from zkchat_cli.gui.window import ChatWindow


def run(open_app: Callable[[], App], resume: str | None) -> int:
    """Show the window until it is closed."""
    application = QApplication(["zkchat"])
    window = ChatWindow(open_app, resume)
    signal.signal(signal.SIGINT, lambda *_: window.close())
    timer = QTimer(interval=200)  # Python sees a signal, such as Ctrl-C in the terminal that started the window, only when it runs
    timer.timeout.connect(lambda: None)
    timer.start()
    window.show()
    return application.exec()
