"""Battles with their models the other way round, which no ranking may notice."""


def mirror(table):
    """Return the same battles with the other model first."""
    names = {
        f"{stem}_{side}": f"{stem}_{other}"
        for stem in ("model", "length", "score")
        for side, other in ("ab", "ba")
    }
    turned = {name: table[other] for name, other in names.items() if name in table}
    turned |= {name: 1 - table[name] for name in ("credit", "human") if name in table}
    turned |= {name: -table[name] for name in table if name.startswith("margin")}
    return table.assign(
        **turned, order=table["order"].map({"ab": "ba", "ba": "ab", "merged": "merged"})
    )
