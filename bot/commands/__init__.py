"""What each command of the command line does; `bot/cli.py` only reads its words."""
