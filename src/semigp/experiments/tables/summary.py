"""The page of a run: scores and mean ranks of every way, for each share and each kind of holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats

from ..reporting import Row, markdown_table, plain_number, summarise
from . import fillers, ways
from .columns import NAMES
from .plan import IMPUTATION, REGRESSION, WITH_HOLES
from .problems import MECHANISMS

Means = dict[tuple[str, str], float]  # by way and table, over seeds


@dataclass(frozen=True)
class Part:
    """What is shown of one part: its scores, those that are ranked, the ways in order, and those without a rank."""

    name: str
    title: str
    scores: Sequence[str]
    ranked: Sequence[str]
    ways: Sequence[str]
    ours: str
    unranked: Sequence[str] = ()


PARTS = (
    Part(
        REGRESSION, "Regression", ("MSE", "NLPD", "CRPS", "coverage"), ("MSE", "NLPD"),
        tuple(ways.WAYS), ways.OURS, (ways.ORACLE,),
    ),
    Part(
        IMPUTATION, "Filling a table", ("RMSE", "coverage", "right", "log loss"), ("RMSE",),
        tuple(fillers.FILLERS), fillers.OURS,
    ),
)  # fmt: skip


def cases(records: Sequence[Row]) -> list[tuple]:
    """The different conditions of some records: (rows, mechanism, test, rate), in the order in which they are shown."""
    found = {(r["rows"], r["mechanism"], r["test"], r["rate"]) for r in records}
    return sorted(found, key=lambda case: (case[0], MECHANISMS.index(case[1]), case[2], case[3]))


def of_case(records: Sequence[Row], case: tuple) -> list[Row]:
    """The records of one condition."""
    return [r for r in records if (r["rows"], r["mechanism"], r["test"], r["rate"]) == case]


def means(records: Sequence[Row], score: str) -> Means:
    """The mean over seeds of a score, for every way and table."""
    return {(str(k[0]), str(k[1])): v.mean for k, v in summarise(records, ("way", "table"), score).items()}


def mean_ranks(found: Means, part: Part) -> dict[str, float]:
    """The mean over tables of the rank of every way; 1 is the best.

    Tables without a score of ours do not count, and a way has a rank only if it has a score on all tables that do.
    """
    tables = {t for _, t in found}
    tables = {t for t in tables if (part.ours, t) in found} or tables
    names = [w for w in part.ways if w not in part.unranked and all((w, t) in found for t in tables)]
    if not names:
        return {}
    ranks = [scipy.stats.rankdata([found[w, t] for w in names]) for t in sorted(tables)]
    return dict(zip(names, np.mean(ranks, axis=0).tolist(), strict=True))


def page(records: Sequence[Row]) -> str:
    """The whole page in Markdown."""
    good = [r for r in records if "error" not in r]
    lines = [
        "# Tables with holes\n",
        "Tables of everyday kinds, which nobody chose for our methods. Scores are means over seeds and then over "
        "tables, in units of the standard deviation of the training outputs (regression) or of the columns (filling). "
        "A rank is the place among all ways on a table, averaged over tables; the oracle has none. `coverage` is the "
        "share of true values in the 95 % interval, `right` the share of hidden categories that are found. Per-table "
        "scores stand below each table of means. A star marks a way that did not end on all tables.\n",
    ]
    for part in PARTS:
        some = [r for r in good if r["part"] == part.name]
        if some:
            lines += [
                f"## {part.title}\n",
                _counted(some),
                *(_case(of_case(some, case), case, part) for case in cases(some)),
            ]
    wrong = sorted({f"{r['way']} on {r['table']}: {r['error']}" for r in records if "error" in r})
    if wrong:
        lines += ["## Errors\n", "\n".join(f"- {line}" for line in wrong) + "\n"]
    return "\n".join(lines)


def _counted(records: Sequence[Row]) -> str:
    """How many seeds and which tables and ways there are."""
    part = next(p for p in PARTS if p.name == records[0]["part"])
    there = {r["way"] for r in records}
    text = f"{len({r['table'] for r in records})} tables, up to {len({r['seed'] for r in records})} seeds."
    lacking = [name for name in part.ways if name not in there]
    return text + (f" Not measured: {', '.join(lacking)}.\n" if lacking else "\n")


def _case(records: Sequence[Row], case: tuple, part: Part) -> str:
    """One condition: a table of means and ranks, how far ours is behind, and the scores of every table."""
    rows, mechanism, test, rate = case
    title = f"### {rate:.0%} {mechanism}, {rows} rows"
    title += ", test rows with holes" if test == WITH_HOLES else ""
    found = {score: means(records, score) for score in (*part.scores, "seconds")}
    tables = [name for name in NAMES if any(r["table"] == name for r in records)]
    parts = [title + "\n", _overview(found, tables, part)]
    if len(tables) > 1:
        parts += [text for score in part.ranked if (text := _behind(found[score], score, part))]
        parts += [_details(found[score], score, tables, part) for score in part.ranked]
    return "\n".join(parts)


def _overview(found: dict[str, Means], tables: Sequence[str], part: Part) -> str:
    shown = [score for score in (*part.scores, "seconds") if found[score]]
    ranks = {score: mean_ranks(found[score], part) for score in part.ranked}
    lines = []
    for way in part.ways:
        values = {score: [v for (w, _), v in found[score].items() if w == way] for score in shown}
        if not values[part.scores[0]]:
            continue
        star = "" if len(values[part.scores[0]]) == len(tables) else " *"
        cells = [plain_number(float(np.mean(values[score]))) if values[score] else "" for score in shown]
        places = [f"{ranks[score][way]:.1f}" if way in ranks[score] else "" for score in part.ranked]
        lines.append([way + star, *cells, *places])
    return markdown_table(["", *shown, *(f"rank by {score}" for score in part.ranked)], lines)


def _behind(found: Means, score: str, part: Part) -> str:
    """On which table ours is farthest behind the best of the others, in percent or in nats."""
    gaps = {}
    for table in {t for w, t in found if w == part.ours}:
        others = [v for (w, t), v in found.items() if t == table and w != part.ours and w not in part.unranked]
        if others:
            ours, best = found[part.ours, table], min(others)
            gaps[table] = ours - best if score == "NLPD" else ours / best - 1.0
    if not gaps:
        return ""
    table = max(gaps, key=lambda name: gaps[name])
    unit = f"{gaps[table]:+.2f} nats" if score == "NLPD" else f"{gaps[table]:+.0%}"
    return f"{score}: {part.ours} against the best other way is at its worst {unit} ({table}).\n"


def _details(found: Means, score: str, tables: Sequence[str], part: Part) -> str:
    """One score on every table; the best is in bold, the oracle apart."""
    best = {
        t: min((v for (w, other), v in found.items() if other == t and w not in part.unranked), default=None)
        for t in tables
    }
    lines = []
    for way in part.ways:
        values = [found.get((way, t)) for t in tables]
        if all(value is None for value in values):
            continue
        texts = ["" if value is None else plain_number(value) for value in values]
        bold = [
            value is not None and value == best[t] and way not in part.unranked
            for value, t in zip(values, tables, strict=True)
        ]
        lines.append([way, *(f"**{text}**" if b else text for text, b in zip(texts, bold, strict=True))])
    return markdown_table([score, *tables], lines)
