"""``python -m conncomp`` is the `conncomp` command."""

from conncomp.cli import main

main()
