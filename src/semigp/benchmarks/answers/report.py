"""The page in Markdown: jobs with what is asked of them, and growing sizes with their slopes."""

from __future__ import annotations

import re

import numpy as np

from ..measuring import table
from .jobs import JOBS, OURS, SCALINGS, SHORT, WAYS, Job, Scaling
from .records import Records

TABLE = "answers.md"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
HEADER = ["job", "asked, s", "semigp, s", "first time, s", "peak, MiB", "asked, MiB", "beside it, s", "as asked"]


def seconds(value: float) -> str:
    """A time with two or three digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(record: dict, key: str = "seconds") -> str:
    """A time, or the reason why there is none."""
    return seconds(record[key]) if "seconds" in record else record["reason"]


def verdict(job: Job, records: Records) -> str:
    """Whether everything that was asked is so; empty if it was not measured."""
    ours = records.get(job.ours)
    if "seconds" not in ours:
        return "no" if ours.get("is_final") else ""
    spent = ours[job.counts]
    kept = [spent <= job.asked]
    if job.asked_mib is not None:
        kept.append(ours["peak_mib"] <= job.asked_mib)
    if job.times is not None:
        other = records.get(next(iter(job.beside.values())))
        if "seconds" not in other:
            return "no" if not all(kept) else ""
        kept.append(spent < job.times * other["seconds"])
    return "yes" if all(kept) else "no"


def line(job: Job, records: Records) -> list[str]:
    """The cells of one job."""
    ours = records.get(job.ours)
    is_measured = "seconds" in ours
    beside = [f"{way}: {cell(records.get(one))}" for way, one in job.beside.items()]
    asked = f"{job.asked:g}" + ("" if job.times is None else f", and {job.times:g} × {next(iter(job.beside))}")
    peak = f"{ours['peak_mib']:.0f}" if is_measured else ""
    if "device_mib" in ours:
        peak += f", on the GPU {ours['device_mib']:.0f}"
    return [
        job.words, asked, cell(ours, job.counts), seconds(ours["first"]) if is_measured else "", peak,
        "" if job.asked_mib is None else f"{job.asked_mib:.0f}", "; ".join(beside), verdict(job, records),
    ]  # fmt: skip


def slope(sizes, times) -> float:
    """The least-squares slope of log seconds on log size; NaN with fewer than two sizes."""
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def measured(scaling: Scaling, way: str, records: Records) -> dict[int, float]:
    """Seconds of one way by size, where they were measured."""
    found = {size: records.get(one) for size, one in scaling.measurements(way).items()}
    return {size: record["seconds"] for size, record in found.items() if "seconds" in record}


def scaling_table(scaling: Scaling, records: Records) -> str:
    """Seconds and peak memory of all ways at all sizes, and the slopes below."""
    header = [scaling.name] + [f"{way}{unit}" for way in WAYS for unit in (", s", ", MiB")]
    rows = []
    for size in scaling.sizes:
        row = [f"{size:,}"]
        for way in WAYS:
            one = scaling.measurements(way).get(size)
            record = {"reason": "-"} if one is None else records.get(one)
            row += [cell(record), f"{record['peak_mib']:.0f}" if "seconds" in record else ""]
        rows.append(row)
    slopes = ["slope"]
    for way in WAYS:
        times = measured(scaling, way, records)
        found = slope(list(times), list(times.values()))
        slopes += ["" if np.isnan(found) else f"**{found:.2f}**", ""]
    return table(header, [*rows, slopes])


def notes(scaling: Scaling) -> str:
    """The shape of the tables, and why some ways go no further."""
    still = f"{scaling.shape[1]} columns" if scaling.shape[0] is None else f"{scaling.shape[0]} rows"
    ends = [f"{way} ends at {most:,} {scaling.name} ({scaling.why[way]})" for way, most in scaling.most.items()]
    return f"{still}, 30 % missing. {'; '.join(ends)}."


def origins(records: Records) -> str:
    """Where the times come from: a sentence for each machine, which names the measurements of all but the main one."""
    names: dict[str, list[str]] = {}
    dates: dict[str, set[str]] = {}
    for name, record in records.records.items():
        if "seconds" in record:
            where = _DATE.sub("{date}", _origin(record), count=1)
            names.setdefault(where, []).append(name)
            dates.setdefault(where, set()).update(_DATE.findall(record["origin"])[:1])
    told: list[str] = []
    for where in sorted(names, key=lambda where: -len(names[where])):
        text = where.replace("{date}", " and ".join(sorted(dates[where])))
        told.append(f"{', '.join(sorted(names[where]))}: {text}" if told else text)
    return "\n\n".join(told)


def _origin(record: dict) -> str:
    device = f" GPU: {record['device']}." if "device" in record else ""
    return f"{record['origin']} BLAS threads: {record['blas_threads']}.{device}"


def versions(records: Records) -> str:
    """The versions of the competitors."""
    found = {}
    for record in records.records.values():
        found |= record.get("versions", {})
    return ", ".join(f"{name} {number}" for name, number in sorted(found.items()))


NOTES = """\
Wall seconds and peak memory of whole jobs, each in a process of its own, with default settings. The peak includes all
libraries that the process has loaded, for {ours} and for competitors. *First time*: the first time in a process that
finds nothing compiled on disk. The column before it has the time that is asked for. Where the job does not say *first*,
that is the second time in the same process. Commands and imports are timed as processes, from start to end; of the
import, the first of three processes and their median are shown. *As asked* is empty where something was not measured.
Competitors may stop at sizes that take too long, and cells without a time say why.

Tables are simulated: columns that share three factors, an output that is a nonlinear function of two of them, noise,
and holes at random places. Whatever is fitted also predicts 100 new rows that have holes too. missForest + GP is
scikit-learn's IterativeImputer over extra-trees, and its Gaussian process with a lengthscale for each input; with more
than 1000 rows, the lengthscales are fitted to 1000 of them. Series have a season of twelve steps, of which
statsforecast's models are told, and forecasts have 95 % intervals."""
NOTES_ON_SIZES = """\
Seconds of a fit and 100 predictions. It is the second time in the process if the first took less than {patience:.0f} s.
The last line is the least-squares slope of log seconds on log size, over all sizes that were measured. GPy's Bayesian
GP-LVM has 100 iterations, 5 latent inputs and 30 inducing points, and embeds training and new rows together."""


def report(records: Records) -> str:
    """The whole page."""
    from . import __doc__ as title

    parts = [f"# {title.splitlines()[0]}", origins(records)]
    if versions(records):
        parts.append(f"Competitors: {versions(records)}.")
    parts += [NOTES.format(ours=OURS), table(HEADER, [line(job, records) for job in JOBS])]
    parts += ["## From small to large", NOTES_ON_SIZES.format(patience=SHORT)]
    for scaling in SCALINGS:
        parts += [notes(scaling), scaling_table(scaling, records)]
    return "\n\n".join(part for part in parts if part) + "\n"
