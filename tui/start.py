"""The console command. Without arguments it goes straight to the screen: parsing a command line costs as much as a first paint."""

import sys


def main() -> None:
    """Entry point of `otherminds`."""
    if len(sys.argv) > 1:
        from tui.cli import main as run

        run()
    from tui.app import run_app

    sys.exit(run_app(None))


if __name__ == "__main__":
    main()
