"""`python -m bot` is the same as `footnote`."""

from bot.cli import main

if __name__ == "__main__":
    main()
