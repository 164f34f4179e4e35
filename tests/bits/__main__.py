"""``python -m tests.bits``: compare with what was recorded; with ``--record`` record again."""

import argparse

from . import running


def main(arguments=None):
    parser = argparse.ArgumentParser("python -m tests.bits", description=__doc__)
    parser.add_argument("--record", action="store_true", help="for changes that CHANGELOG names")
    parser.add_argument("themes", nargs="*", metavar="THEME", help=", ".join(running.THEMES))
    options = parser.parse_args(arguments)
    different = 0
    for theme in options.themes or running.THEMES:
        if options.record:
            print(running.record(theme))
        else:
            lines = running.differences(theme)
            different += len(lines)
            print("\n".join([f"{theme}: {len(lines)} differences", *lines]))
    return min(different, 1)


if __name__ == "__main__":
    raise SystemExit(main())
