"""`python -m zkchat_cli` is `zkchat`."""

from zkchat_cli.main import run

if __name__ == "__main__":
    run()
