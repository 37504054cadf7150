"""How large each package in a folder of installed packages is, the largest first.

`python packaging/sizes.py .venv/lib/python3.11/site-packages`
"""

import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

MILLION = 1_000_000


def size_of(package: Distribution) -> int:
    """The bytes of a package's files."""
    files = [package.locate_file(file) for file in package.files or ()]
    return sum(file.stat().st_size for file in map(_path, files) if file.is_file())


def _path(file: object) -> Path:
    return Path(str(file))


def main(folder: str) -> None:
    """Print the table."""
    sizes = {str(each.name): size_of(each) for each in distributions(path=[folder])}
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{size / MILLION:7.1f} MB  {name}")
    print(f"{sum(sizes.values()) / MILLION:7.1f} MB  all {len(sizes)} packages")


if __name__ == "__main__":
    main(sys.argv[1])
