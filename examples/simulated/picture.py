"""Draw `ranking.svg`: Elo of the example set, clustered by instruction, and with rows taken for independent.

Run from the repository's root: `python examples/simulated/picture.py`.
"""

from pathlib import Path

from podium import Standings, rank, read_battles

HERE = Path(__file__).parent
WIDTH, LEFT, ROW, TOP = 720, 90, 34, 46
LOWEST, HIGHEST = 1200, 1800
INK, HONEST, NAIVE = "#57606a", "#0969da", "#d4a72c"


def main() -> None:
    """Rank twice and draw both intervals on one line per model."""
    battles = read_battles(HERE / "battles.csv")
    by_item = rank(battles, "bradley-terry").standings[0]
    by_row = rank(battles, "bradley-terry", cluster="row").standings[0]
    (HERE / "ranking.svg").write_text(drawing(by_item, by_row), encoding="utf-8")


def drawing(by_item: Standings, by_row: Standings) -> str:
    """Return the picture."""
    rows = [*axis(len(by_item.entries)), *legend()]
    for k, (honest, naive) in enumerate(zip(by_item.entries, by_row.entries, strict=True)):
        y = TOP + ROW * k + ROW / 2
        rows.append(text(LEFT - 12, y + 5, honest.model, "end"))
        rows.append(bar(honest.low, honest.high, y - 4, 8, HONEST))
        rows.append(bar(naive.low, naive.high, y + 6, 4, NAIVE))
        rows.append(
            f'<circle cx="{x(honest.score):.1f}" cy="{y:.1f}" r="5" fill="white" stroke="{HONEST}" stroke-width="3"/>'
        )
    height = TOP + ROW * len(by_item.entries) + 34
    body = "\n".join(rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'font-family="sans-serif" font-size="14">\n{body}\n</svg>\n'
    )


def axis(models: int) -> list[str]:
    """Return a vertical line and a number every 100 points."""
    bottom = TOP + ROW * models
    lines = []
    for elo in range(LOWEST, HIGHEST + 1, 100):
        lines.append(f'<path d="M{x(elo):.1f} {TOP}V{bottom}" stroke="{INK}" stroke-opacity="0.25"/>')
        lines.append(text(x(elo), bottom + 20, str(elo), "middle"))
    return lines


def legend() -> list[str]:
    """Return what the two bars are."""
    entries = (
        (LEFT, HONEST, "95%, clustered by instruction"),
        (LEFT + 260, NAIVE, "95%, rows taken for independent (too narrow)"),
    )
    return [
        part
        for left, colour, words in entries
        for part in (
            f'<rect x="{left}" y="14" width="22" height="8" fill="{colour}"/>',
            text(left + 30, 23, words, "start"),
        )
    ]


def bar(low: float | None, high: float | None, y: float, height: int, colour: str) -> str:
    """Return an interval as a bar; an open one is not drawn."""
    if low is None or high is None:
        return ""
    return (
        f'<rect x="{x(low):.1f}" y="{y:.1f}" width="{x(high) - x(low):.1f}" height="{height}" rx="2" fill="{colour}"/>'
    )


def text(left: float, y: float, words: str, anchor: str) -> str:
    """Return words at a place."""
    return f'<text x="{left:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}">{words}</text>'


def x(elo: float) -> float:
    """Return where a score is drawn."""
    return LEFT + (elo - LOWEST) / (HIGHEST - LOWEST) * (WIDTH - LEFT - 30)


if __name__ == "__main__":
    main()
