"""``python -m reproductions`` measures the figures and tables of a paper again."""

from conncomp.cli import run

run("reproductions.command", "paper", "python -m reproductions")
