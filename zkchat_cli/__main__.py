"""`python -m zkchat_cli` is `zkchat`."""

from zkchat_cli.cli.app import run

if __name__ == "__main__":
    run()
