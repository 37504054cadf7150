#!/usr/bin/env bash
# Build all files of a release in dist/: source distribution, wheel, SBOM and checksums. `release.sh v1.2.3` also checks that the tag is the
# version. Publishing is not done here: .github/workflows/release.yml does it.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
tag=${1:-v$version}
if [ "$tag" != "v$version" ]; then
    echo "The tag $tag is not the version in pyproject.toml, $version. Change one of them." >&2
    exit 1
fi
if ! grep -q "^__version__ = \"$version\"$" zkchat_cli/__init__.py; then
    echo "zkchat_cli/__init__.py has another version than pyproject.toml, $version." >&2
    exit 1
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rm -rf dist
python3 -m venv "$folder/tools"
"$folder/tools/bin/pip" install -q build twine cyclonedx-bom
"$folder/tools/bin/python" -m build -q --outdir dist .
"$folder/tools/bin/twine" check --strict dist/*.whl dist/*.tar.gz

# The SBOM lists what the README's command installs: the pinned versions of an environment of its own
python3 -m venv "$folder/installed"
"$folder/installed/bin/pip" install -q -c constraints.txt dist/*.whl
"$folder/tools/bin/cyclonedx-py" environment --output-reproducible --of JSON -o "dist/zkchat.cdx.json" \
    --pyproject pyproject.toml "$folder/installed/bin/python"
test "$("$folder/installed/bin/zkchat" --version)" = "zkchat $version"

checksum=$(sha256sum "dist/zkchat-$version.tar.gz" | cut -d ' ' -f 1)
sed -e "s#v[0-9.]*/zkchat-[0-9.]*\.tar\.gz#v$version/zkchat-$version.tar.gz#" -e "s/sha256 \"0*\"/sha256 \"$checksum\"/" \
    packaging/homebrew/zkchat.rb > dist/zkchat.rb
(cd dist && sha256sum zkchat* > SHA256SUMS)
cat dist/SHA256SUMS
