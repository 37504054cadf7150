#!/usr/bin/env bash
# Install the wheel with the lowest or the newest versions that pyproject.toml allows, and use it: `test_bounds.sh lowest` or `newest`.
# The newest may be broken by somebody else's release, so its failure is told and not an error (exit code 0 with a message).
set -euo pipefail
cd "$(dirname "$0")/.."

bound=${1:?"lowest or newest"}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q uv
"$folder/env/bin/uv" build -q --wheel --out-dir "$folder/dist" .
resolution=highest
[ "$bound" = lowest ] && resolution=lowest-direct

check() {
    local uv="$folder/env/bin/uv"
    local install=("$uv" pip install -q --python "$folder/env/bin/python")
    "$uv" pip compile -q --python "$folder/env/bin/python" --resolution "$resolution" --extra mcp --extra postgres \
        pyproject.toml -o "$folder/versions.txt" || return
    "${install[@]}" -r "$folder/versions.txt" || return
    "${install[@]}" --no-deps "$(echo "$folder"/dist/*.whl)" || return
    # The tools of the tests, which leave those versions as they are
    "${install[@]}" -c "$folder/versions.txt" pytest pytest-httpserver pytest-timeout pytest-xdist hypothesis pexpect pyte pydot || return
    # What touches the libraries: servers, the command line, the index, vectors, the screen
    "$folder/env/bin/python" -m pytest -q -n 2 tests/test_typer_adapter.py tests/test_mojentic.py tests/test_chat_requests.py \
        tests/test_openai_responses.py tests/test_anthropic.py tests/test_known_models.py tests/test_builtin_embedder.py \
        tests/test_multilingual_embedder.py tests/test_token_counter.py tests/test_offline_provider.py tests/test_input_line.py \
        tests/test_config_commands.py tests/test_html_export.py tests/test_dates.py || return
    (cd "$folder" && ZKCHAT_HOME="$folder/home" env/bin/zkchat chat --demo <<<"What is an evergreen note?" | grep -F "[[Evergreen notes]]")
}
if check; then
    echo "zkchat works with the $bound versions that pyproject.toml allows."
elif [ "$bound" = newest ]; then
    echo "::warning::zkchat fails with the newest versions of its dependencies; constraints.txt has versions that work."
    cat "$folder/versions.txt" 2>/dev/null || true
else
    echo "zkchat fails with the $bound versions that pyproject.toml allows: raise the lower bound." >&2
    exit 1
fi
