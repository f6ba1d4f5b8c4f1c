"""``graphpri completion``: a script that completes commands and options in a shell."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import App, Parameter

from graphpri.cli.commands import build_app

app = App(
    name="completion",
    help_epilogue="""\
Examples:
  graphpri completion bash > ~/.local/share/bash-completion/completions/graphpri
  graphpri completion zsh > ~/.zsh/completions/_graphpri
  graphpri completion fish > ~/.config/fish/completions/graphpri.fish""",
)


@app.default
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(name="SHELL", help="The shell to write for.")], /
) -> None:
    """Print a script that completes graphpri's commands and options in a shell."""
    print(build_app().generate_completion(prog_name="graphpri", shell=shell))
