"""Templates of the sentences in a judge card's summary; `card_summary` chooses among them."""

ANSWERS = {
    "no judge": "These battles compare scores that no judge gave, so no check of a judge applies.",
    "judge stopped": (
        "This judge may not rank: its tournament was stopped because it cannot judge."
    ),
    "ranking unknown": "Whether this judge may rank is not known: {why}.",
    "ranking rejected": (
        "Do not rank by this judge yet: it agrees with humans on {agreement.estimate} of winners "
        "({agreement.interval}), a coin on 50%."
    ),
    "ranking accepted": (
        "This judge may rank: it agrees with humans on {agreement.estimate} of winners "
        "({agreement.interval})."
    ),
    "ranking has cycles": (
        "This judge may rank: it agrees with humans on {agreement.estimate} of winners "
        "({agreement.interval}); cycles among the models: {cycles}."
    ),
    "scale unknown": "Whether its Elo gaps match human ones is not known: {why}.",
    "scale matches": (
        "Its Elo gaps are {slope.value:.2f} times the human ones ({slope.interval}): they match, "
        "as far as these labels show."
    ),
    "scale differs": (
        "Its Elo gaps are {slope.value:.2f} times the human ones ({slope.interval}): calibrate "
        "before you quote Elo."
    ),
    "ask humans": "Ask humans: `podium label` draws the battles.",
    "only judge with labels": ("Humans agree with {best}; for the other judges it is not known."),
    "best judge": (
        "Humans agree most with {best}, then with {second}: {points:.1f} points less "
        "({interval}){doubt}."
    ),
}
"""Templates of complete sentences, by what the sentence says. Fields in braces are filled by
`card_summary`; `agreement` and `slope` are `Statistic` objects.
"""
JUDGE = "{name} on {share.estimate} of winners ({share.interval})"
"""How `best with humans` describes a judge: `{share}` is its agreement with humans."""
DOUBT = ", too close to call"
"""Added to the sentence on the best judge if its lead is not clear."""
