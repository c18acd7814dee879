"""A jury: the verdicts of several judges on one battle, side by side."""

from dataclasses import replace

import numpy as np
import pandas as pd

from podium.counting.relations import CRITERION
from podium.errors import DataError
from podium.nouns.battles import Battles


def jury_battles(battles: Battles) -> Battles:
    """Return one battle for all judges of an item and pair, with a margin a judge; battles of one judge as they are.

    A judge without any margin has margins 2 * credit - 1. A battle that a judge did not decide has no margin of that
    judge. The credit is the mean over judges, the label the mean of the labels.

    Raises:
        DataError: no item is known, so that nothing says which verdicts are of one battle.
    """
    judges = battles.judges
    if len(judges) < 2:
        return battles
    if not battles.has_items:
        raise DataError(
            "no row says its item, and a jury's verdicts are joined by item and pair",
            remedy="name the item's column, for example --columns item=prompt",
        )
    table = battles.table
    a, b = (table[side].astype(object) for side in ("model_a", "model_b"))
    turned = (a > b).to_numpy()
    credit, margin = battles.numbers_of("credit"), battles.numbers_of("margin")
    judge = table["judge"].astype(object).fillna("(no judge)").astype(str)
    silent = ~judge.isin(judge[~np.isnan(margin)].unique()).to_numpy()
    margin = np.where(silent, 2 * credit - 1, margin)
    own = {f"{CRITERION}{name}": np.where(judge == name, margin, np.nan) for name in judges}
    columns = {"credit": np.where(turned, 1 - credit, credit)}
    columns |= {name: np.where(turned, -values, values) for name, values in own.items()}
    if "human" in table:
        columns["human"] = np.where(turned, 1 - table["human"], table["human"])
    keys = {"item": table["item"].astype(object), "model_a": a.where(~turned, b), "model_b": b.where(~turned, a)}
    if "response" in table:
        keys["response"] = table["response"].astype(object).fillna("")
    means = pd.DataFrame({**keys, **columns}).groupby(list(keys), sort=True).mean().reset_index()
    for side in ("model_a", "model_b"):
        means[side] = pd.Categorical(means[side], categories=battles.models)
    means["item"] = pd.Categorical(means["item"])
    means["judge"] = pd.Categorical([f"jury: {', '.join(judges)}"] * len(means))
    return replace(battles, rows=means, missing=None)
