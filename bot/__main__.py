"""`python -m bot` is the same as `footnote`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it in one word also while the command line itself is still loading."""
    try:
        from bot.cli import main as run

        run()
    except KeyboardInterrupt:
        from bot.outcome import STOPPED

        sys.stderr.write("Stopped.\n")
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
