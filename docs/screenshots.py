"""Draw the pictures of the window, docs/images/window-light.png and window-dark.png, from a real
session with the demo notes.

QT_QPA_PLATFORM=offscreen python docs/screenshots.py
"""

import os
import tempfile
import time
from pathlib import Path

from PySide6.QtGui import QColor, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from zkchat_cli import paths
from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions, demo_vault
from zkchat_cli.gui.window import ChatWindow

IMAGES = Path(__file__).with_name("images")
QUESTIONS = ("What is an evergreen note?", "How do I title an evergreen note?")
SIZE = (1180, 720)
DARK = {
    QPalette.ColorRole.Window: "#212429",
    QPalette.ColorRole.WindowText: "#e8e9eb",
    QPalette.ColorRole.Base: "#16181b",
    QPalette.ColorRole.AlternateBase: "#212429",
    QPalette.ColorRole.Text: "#e8e9eb",
    QPalette.ColorRole.Button: "#2b2f36",
    QPalette.ColorRole.ButtonText: "#e8e9eb",
    QPalette.ColorRole.PlaceholderText: "#a9afb8",
    QPalette.ColorRole.Highlight: "#2f5f9e",
    QPalette.ColorRole.HighlightedText: "#ffffff",
    QPalette.ColorRole.ToolTipBase: "#2b2f36",
    QPalette.ColorRole.Light: "#474c54",
}
"""What a desktop's dark theme sets; there is no desktop here."""


def wait(window: ChatWindow) -> None:
    until = time.monotonic() + 60
    while (window._work.busy or window._side.busy) and time.monotonic() < until:
        QApplication.processEvents()
        time.sleep(0.005)


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["ZKCHAT_HOME"] = home
        application = QApplication.instance() or QApplication([])
        assert isinstance(application, QApplication)
        notes = demo_vault(paths.app_paths(os.environ))
        choices = StartupOptions(vault=notes, overrides={"semantic.provider": "none"})
        window = ChatWindow(lambda: factory.open_app(choices, os.environ, notes))
        window.resize(*SIZE)
        window.show()
        wait(window)
        for question in QUESTIONS:
            window.send(question)
            wait(window)
        window.references.select_number(window.references.items[0].key)
        wait(window)
        window.grab().save(str(IMAGES / "window-light.png"))
        palette = application.palette()
        for role, color in DARK.items():
            palette.setColor(role, QColor(color))
        palette.setColor(
            QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText, QColor("#6b727c")
        )
        application.setPalette(palette)
        QTest.qWait(50)
        window.references.list.clearSelection()
        window.references.list.setCurrentRow(-1)
        window.references.select_number(window.references.items[0].key)
        wait(window)
        window.grab().save(str(IMAGES / "window-dark.png"))
        window.close()


if __name__ == "__main__":
    main()
