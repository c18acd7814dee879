"""Templates of the sentences in a judge card's summary, by `section`; the rules that choose them:
`card_summary`."""

ANSWERS = {
    "ranking unknown": "Whether this judge may rank is not known: {why}.",
    "order decides": "This judge may not rank: the response shown first has a win rate of "
    "{section.first_win_rate.estimate} ({section.first_win_rate.interval}), and {section.swaps.all.flip.estimate} of "
    "verdicts flip.",
    "ranking rejected": "Do not rank by this judge yet: it agrees with humans on {agreement.estimate} of winners "
    "({agreement.interval}), a coin on 50%.",
    "ranking accepted": "This judge may rank: it agrees with humans on {agreement.estimate} of winners "
    "({agreement.interval}).",
    "ranking has cycles": "This judge may rank: it agrees with humans on {agreement.estimate} of winners "
    "({agreement.interval}); cycles among the models: {cycles}.",
    "scale unknown": "Whether its Elo gaps match human ones is not known: {why}.",
    "scale matches": "Its Elo gaps are {slope.value:.2f} times the human ones ({slope.interval}): they match, as far "
    "as these labels show.",
    "scale differs": "Its Elo gaps are {slope.value:.2f} times the human ones ({slope.interval}): calibrate before you "
    "quote Elo.",
    "fix replies": "Fix the judge's replies: {section.unparsed.estimate} could not be read.",
    "show both orders": "Show both orders: the response shown first wins {section.prefers_first.estimate} of decided "
    "verdicts.",
    "keep both orders": "Keep both orders: {section.swaps.all.flip.estimate} of verdicts flip.",
    "keep both orders, first": "Keep both orders: {section.swaps.all.flip.estimate} of verdicts flip, "
    "{section.swaps.all.flips_to_first.estimate} of those to the response shown first.",
    "ask without order": "Use another judge; or let this one grade single responses, which have no order "
    "(realization=likert), or give token probabilities (logprobs=required).",
    "ask another family": "Let a judge of another family decide, too.",
    "control length": "Rank at equal length, too: `podium rank --set length_control=true`.",
    "ask humans": "Ask humans: `podium label` draws the battles.",
    "only judge with labels": "Humans agree with {best}; for the other judges it is not known.",
    "best judge": "Humans agree most with {best}, then with {second}: {points:.1f} points less ({interval}){doubt}.",
}
JUDGE = "{name} on {share.estimate} of winners ({share.interval})"
DOUBT = ", too close to call"
FIGURES = {
    "reading": "{section.unparsed.estimate} unparsed",
    "position": "the response shown first wins {section.prefers_first.brief}",
    "repeated": "the same verdict {section.retest.brief}",
    "verbosity": "{section.effect.estimate} per e-fold of length ({section.effect.interval})",
    "self-preference": "{section.excess.brief}",
    "human": "same winner {section.agreement.brief}, kappa {section.kappa.estimate}",
    "transitivity": "{section.hard.value:.0%} of triples on items (random verdicts: {section.chance:.0%})",
    "cycles": "{section.certain} of {section.triples:,} triples of models form a cycle",
    "fit": "misses {section.missed} of {section.tested} pairs",
}
"""What was found, by check."""
VERDICTS = {
    "fine": "fine",
    "open": "not known: judge more battles",
    "unknown": "not known: {remedy}",
    "unparsed": "let the judge reason first, or choose one that keeps to the form",
    "cancelled": "cancelled by both orders",
    "order decides": "decides more than the responses do: may not rank",
    "biased": "biases each verdict: show both orders",
    "noise": "noise, included in the intervals",
    "longer": "favours longer responses",
    "shorter": "favours shorter responses",
    "favoured": "favours its family",
    "disfavoured": "underrates its family",
    "no better than chance": "no better than chance",
    "cyclic": "no order explains them",
    "untested": "not known: judge every pair on 10 items",
    "misfit": "look at these pairs one by one",
}
"""What follows from a check, by outcome."""
