"""Let `python -m podium` do what `podium` does."""

from podium.cli.main import main

if __name__ == "__main__":
    main()
