"""The page of a run: scores of every way on every part, mean ranks, and how far each is from ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.stats

from ..forecasting import REAL
from ..reporting import Row, Summary, markdown_table, plain_number, summarise
from . import simulated
from .plan import LEVELS, LIMIT, OTHER_ETS, OURS, TRUTH, UNRANKED, WAYS
from .problems import AIRLINE, CHAOS, CO2, HOURLY, KINDS, LONGEST, MONTHLY, SUNSPOTS, WALK, WEEKLY

SCORES = ("quantile loss", "MASE", "CRPS", "coverage", "coverage, first tenth")
RANKED = "quantile loss"
WITH_ERROR = ("quantile loss", "MASE")  # written with their standard errors
_LEAD = f"""Series of everyday kinds, and some whose true model is known. M4, sunspots and CO2 were looked at while
the forecaster was developed; the seeds of simulated series are new. Every way has the same past, and its quantiles at
{len(LEVELS)} levels are scored: {", ".join(f"{level:g}" for level in LEVELS)}.

*Quantile loss* is twice the pinball loss, mean over levels and steps; *MASE* is the absolute error of the median;
*CRPS* is the integral of the quantile loss over all levels. All three are in units of the mean of
|y(t) - y(t - season)| in the past, with the season that stands below each heading. *Coverage* is the share of true
values in the interval of 95 %. Numbers are means over series, with their standard error. A rank is the place by
quantile loss, mean over series; the true model has none. *Less ours* is the quantile loss less that of {OURS}, mean
over the series that both have, with its standard error: positive where ours is better.

A peer had {LIMIT} seconds for a series and one core, which it shared with other work. A star marks a way that did not
end on all series; it has no rank. The optimiser of AutoETS stops early on some seasonal series: with statsforecast
2.0.1 and 2.1.1 alike, a trend, which cannot lower the likelihood, lowers it by more than a nat on 25 of the 40 hourly
series, and on the passengers. {OTHER_ETS} is the same family of models, fitted by another optimiser.
"""

ABOUT = {
    WEEKLY: f"The last {LONGEST} values of 60 weekly series, 13 steps. Season 1: no peer is told of a year.",
    HOURLY: f"The last {LONGEST} values of 40 hourly series, 48 steps. Season 24; MSTL and Prophet know the week too.",
    WALK: f"{simulated.WALK_LENGTH} values with standard normal steps, {simulated.WALK_STEPS} ahead. Season 1.",
    MONTHLY: f"{simulated.MONTHS} months, {simulated.MONTHS_AHEAD} ahead: a linear trend, twelve random numbers as a "
    "season, white noise, all of random sizes. The true model is a regression that knows the noise. Season 12.",
    AIRLINE: "Passengers of 120 months, 24 ahead (Box & Jenkins). Season 12.",
    SUNSPOTS: "{1} years, {2} ahead, from several origins. Season 1.".format(*REAL[SUNSPOTS]),
    CO2: "{1} weeks with gaps, {2} ahead, from several origins. Gaps are interpolated for all but ours "
    "and the climatology. Season 52.".format(*REAL[CO2]),
    CHAOS: f"{simulated.CHAOS_LENGTH} values of {', '.join(simulated.SYSTEMS)}, with noise of "
    f"{100 * simulated.CHAOS_NOISE:g} % of their standard deviation, {simulated.CHAOS_STEPS} of them ahead. Season 1.",
}


def page(records: Sequence[Row]) -> str:
    """The whole page in Markdown."""
    good = [record for record in records if "error" not in record]
    parts = [part for part in KINDS if any(record["part"] == part for record in good)]
    lines = ["# Series, beside what forecasters use\n", _LEAD, _overview(good, parts)]
    for part in parts:
        some = [record for record in good if record["part"] == part]
        lines += [f"## {part}\n", ABOUT[part] + "\n", _table(some, part)]
    versions = sorted({record["version"] for record in records if "version" in record})
    if versions:
        lines.append(f"Peers: {', '.join(versions)}.\n")
    wrong = sorted({f"{r['way']} on {r['part']}, {r['series']}: {r['error']}" for r in records if "error" in r})
    if wrong:
        lines += ["## Errors\n", "\n".join(f"- {line}" for line in wrong) + "\n"]
    return "\n".join(lines)


def values(records: Sequence[Row], score: str) -> dict[str, dict[str, float]]:
    """A score by way and series."""
    found: dict[str, dict[str, float]] = {}
    for record in records:
        if record.get(score) is not None:
            found.setdefault(record["way"], {})[str(record["series"])] = record[score]
    return found


def mean_ranks(found: dict[str, dict[str, float]]) -> dict[str, float]:
    """The mean place of every way; 1 is the best. A way has a rank only if it has a score on all series.

    Series without a score of ours do not count, where ours has some.
    """
    series = sorted(found.get(OURS) or {name for scores in found.values() for name in scores})
    ways = [way for way, scores in found.items() if way not in UNRANKED and set(series) <= set(scores)]
    if not ways:
        return {}
    ranks = [scipy.stats.rankdata([found[way][name] for way in ways]) for name in series]
    return dict(zip(ways, np.mean(ranks, axis=0).tolist(), strict=True))


def less(found: dict[str, dict[str, float]], way: str, other: str = OURS) -> Summary | None:
    """The score of a way less that of another, over the series that both have."""
    first, second = found[way], found.get(other, {})
    both = [{"difference": first[name] - second[name]} for name in first if name in second]
    return summarise(both, (), "difference")[()] if both and way != other else None


def _overview(records: Sequence[Row], parts: Sequence[str]) -> str:
    """The mean quantile loss of every way on every part."""
    means = summarise(records, ("way", "part"), RANKED)
    ways = list(dict.fromkeys(way for part in parts for way in WAYS[part] if (way, part) in means))
    lines = [[way, *(plain_number(means[way, p].mean) if (way, p) in means else "" for p in parts)] for way in ways]
    return "Quantile loss, mean over series:\n\n" + markdown_table(["", *parts], lines)


def _table(records: Sequence[Row], part: str) -> str:
    means = {score: summarise(records, ("way",), score) for score in (*SCORES, "seconds")}
    found = values(records, RANKED)
    ranks, n_series = mean_ranks(found), max(len(scores) for scores in found.values())
    lines = []
    for way in (way for way in WAYS[part] if way in found):
        star = "" if len(found[way]) == n_series else f" * ({len(found[way])} of {n_series})"
        cells = [_text(means[score].get((way,)), score in WITH_ERROR) for score in (*SCORES, "seconds")]
        rank = f"{ranks[way]:.1f}" if way in ranks else ""
        lines.append([way + star, *cells, rank, _text(less(found, way), True)])
    return markdown_table(["", *SCORES, "seconds", "rank", "less ours"], lines) + _beside_truth(found)


def _beside_truth(found: dict[str, dict[str, float]]) -> str:
    """How far every way is from the true model on the same series. Few series can put one below it, by chance."""
    if TRUTH not in found:
        return ""
    gaps = {way: _text(less(found, way, TRUTH), True) for way in found if way != TRUTH}
    return "\nQuantile loss less that of the true model: " + ", ".join(f"{w} {gap}" for w, gap in gaps.items()) + ".\n"


def _text(summary: Summary | None, with_error: bool) -> str:
    if summary is None:
        return ""
    return summary.text if with_error and summary.count > 1 else plain_number(summary.mean)
