"""Draw `ratings.svg`: held-out ratings of the labelled models, by verdicts and by soft targets, over those by people.

Run from the repository's root: `python examples/soft_elo/picture.py`.
"""

from pathlib import Path

from podium import Calibration, calibrate, read_battles

HERE = Path(__file__).parent
SIZE, LEFT, TOP = 420, 64, 24
LOWEST, HIGHEST = 1100, 1800
INK, SOFT, HARD = "#57606a", "#0969da", "#d4a72c"


def main() -> None:
    """Calibrate on the labelled battles and draw a point per model and kind."""
    found = calibrate(read_battles(HERE / "labelled.csv"))
    (HERE / "ratings.svg").write_text(drawing(found), encoding="utf-8")


def drawing(found: Calibration) -> str:
    """Return the picture."""
    q = found.conformal["soft"].q or 0.0
    rows = [*axes(), *legend(found)]
    for one in found.entrants:
        people, soft, hard, reach = one.human_elo, one.soft_elo, one.hard_elo, q * (one.soft_se or 0.0)
        if people is None or soft is None or hard is None:
            continue
        rows.append(line(people, soft - reach, people, soft + reach, SOFT, 3, 0.35))
        rows.append(line(people, soft, people, hard, HARD, 1, 0.6))
        rows.append(point(people, hard, HARD))
        rows.append(point(people, soft, SOFT))
    body = "\n".join(rows)
    width, height = LEFT + SIZE + 24, TOP + SIZE + 92
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'font-family="sans-serif" font-size="14">\n{body}\n</svg>\n'
    )


def axes() -> list[str]:
    """Return a grid every 100 points, the diagonal, and what the axes are."""
    rows = []
    for elo in range(LOWEST, HIGHEST + 1, 100):
        rows.append(line(elo, LOWEST, elo, HIGHEST, INK, 1, 0.15))
        rows.append(line(LOWEST, elo, HIGHEST, elo, INK, 1, 0.15))
        if elo % 200 == 0:
            rows.append(text(x(elo), TOP + SIZE + 18, str(elo), "middle"))
            rows.append(text(LEFT - 8, y(elo) + 5, str(elo), "end"))
    rows.append(line(LOWEST, LOWEST, HIGHEST, HIGHEST, INK, 1, 0.8))
    rows.append(text(x(HIGHEST), TOP + SIZE + 36, "Elo by people", "end"))
    rows.append(text(LEFT + 6, TOP + 14, "Elo by the judge", "start"))
    return rows


def legend(found: Calibration) -> list[str]:
    """Return what the colours are, with the mean error of each."""
    bottom = TOP + SIZE + 60
    level, soft, hard = found.conformal["soft"].level, found.accuracy["soft"].mae, found.accuracy["hard"].mae
    return [
        f'<circle cx="{LEFT + 6}" cy="{bottom - 5}" r="5" fill="{HARD}"/>',
        text(LEFT + 18, bottom, f"verdicts: {hard:.0f} Elo off on average", "start"),
        f'<circle cx="{LEFT + 6}" cy="{bottom + 15}" r="5" fill="{SOFT}"/>',
        text(LEFT + 18, bottom + 20, f"soft targets: {soft:.0f} Elo off, {level:.0%} conformal intervals", "start"),
    ]


def point(people: float, judge: float, colour: str) -> str:
    """Return a dot."""
    return f'<circle cx="{x(people):.1f}" cy="{y(judge):.1f}" r="4.5" fill="{colour}"/>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: int, opacity: float) -> str:
    """Return a line between two points on the Elo scale."""
    return (
        f'<path d="M{x(x1):.1f} {y(y1):.1f}L{x(x2):.1f} {y(y2):.1f}" stroke="{colour}" stroke-width="{width}" '
        f'stroke-opacity="{opacity}"/>'
    )


def text(left: float, top: float, words: str, anchor: str) -> str:
    """Return words at a place."""
    return f'<text x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}" fill="{INK}">{words}</text>'


def x(elo: float) -> float:
    """Return the place of a rating by people."""
    return LEFT + SIZE * (elo - LOWEST) / (HIGHEST - LOWEST)


def y(elo: float) -> float:
    """Return the place of a rating by the judge."""
    return TOP + SIZE * (HIGHEST - elo) / (HIGHEST - LOWEST)


if __name__ == "__main__":
    main()
