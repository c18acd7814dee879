"""podium leaderboard: many rankings in, a static site out."""

from pathlib import Path

import click

from podium.cli import options
from podium.printable import tell


@options.command("Options", "Make a static site of many rankings, and Markdown of them.")
@click.argument(
    "folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@options.output_folder(default="site", help="Write the site into this folder.")
@click.option(
    "--space",
    metavar="TITLE",
    help="Also write the README.md that makes the site a static Hugging Face Space.",
)
def leaderboard(folder: Path, output: Path, space: str | None) -> int:
    """Make a site of the rankings in DIR (tasks, judges, dates), each a file of `podium rank
    --format json`.

    \b
    podium rank monday.csv --format json -o rankings/chat/judge-a/2026-11-23.json
    podium leaderboard rankings/ -o site/
    \f

    Returns:
        The exit code: 3 if a file in DIR was left out because it could not be shown, else 0.
    """
    from podium.cli.output import show_progress
    from podium.show.page.leaderboard_site import rankings_in, site_files
    from podium.storage.atomic_files import write_text
    from podium.wording import plural

    rankings, failures = rankings_in(folder, output)
    with show_progress():
        for name, text in site_files(rankings, space):
            place = output / name
            place.parent.mkdir(parents=True, exist_ok=True)
            write_text(place, text, errors="backslashreplace")
    for failure in failures:
        tell(f"not shown: {failure}")
    tell(
        f"wrote {output / 'index.html'}, leaderboard.md and {len(rankings)} "
        f"{plural('page', len(rankings))}"
    )
    return 3 if failures else 0
