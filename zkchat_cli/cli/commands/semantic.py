"""Search by meaning: what is computed, and models to download."""

import os
from typing import Annotated

from typer import Argument

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.errors import UsageError
from zkchat_cli.views.text import describe_semantic_status

ORDER = 70
COMMAND = command_group("Search by meaning: its state, and other models.")


@command(COMMAND, *options.NOTES)
def status(ctx: CommandContext) -> None:
    """The model in use, what share of the notes has vectors, and the models that can be
    downloaded.
    """
    from zkchat_cli.llm.model_downloads import MODELS

    folder = ctx.config.paths.models_dir
    with ctx.open_vault() as vault:
        found = vault.status().semantic
    listed = [
        {
            "name": model.name,
            "languages": model.languages,
            "license": model.license,
            "megabytes": model.size // 1_000_000,
            "downloaded": model.is_in(folder),
        }
        for model in MODELS
    ]
    if found:
        state = found.model_dump()
        # `models` are those that can be downloaded
        state["in_use"] = state.pop("models")
        text = describe_semantic_status(found)
    else:
        state = dict.fromkeys(("model", "windows", "embedded", "complete"))
        state["provider"] = "none"
        state["in_use"] = []
        text = "off: zkchat config set semantic.provider builtin turns it on"
    lines = [f"search by meaning: {text}"]
    for each in listed:
        have = "downloaded" if each["downloaded"] else f"zkchat semantic get {each['name']}"
        lines.append(
            f"  {each['name']}   {each['languages']}, {each['megabytes']} MB, "
            f"{each['license']}: {have}"
        )
    ctx.print_result({**state, "models": listed}, "\n".join(lines))


@command(COMMAND, "config_file", examples=["zkchat semantic get multilingual-e5-small"])
def get(
    ctx: CommandContext,
    name: Annotated[str, Argument(metavar="NAME", help="A model that `semantic status` lists.")],
) -> None:
    """Download a model; nothing else is ever downloaded. Its files are checked by their SHA-256."""
    from zkchat_cli.llm.model_downloads import MODELS, download

    model = next((model for model in MODELS if model.name == name), None)
    if model is None:
        raise UsageError(
            f"unknown model {name}", f"The models are {', '.join(model.name for model in MODELS)}."
        )
    with ctx.screen.progress_bar("Downloading") as progress:
        target = download(model, ctx.config.paths.models_dir, os.environ, progress)
    ctx.screen.print(f"{name} is in {target}. To use it:")
    for use in (
        "config set semantic.provider onnx",
        f"config set semantic.model {name}",
        "vault index --semantic",
    ):
        ctx.screen.remark(f"  zkchat {use}")
