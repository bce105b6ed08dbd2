"""The results of processes, kept in one file: a run that was stopped goes on, and runs of other machines are added.

The file has a record for each measurement: the times and the peak memory, or the reason why there are none. It also
names the measurements that the present run has done. A run that has come to its end takes them off that list, so that
the next run measures them again. A record with a time is replaced by a newer one, but not by the reason why it could
not be measured: so a time from a GPU stays when a machine without one runs the benchmark.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from ..measuring import Unmeasured, origin
from .jobs import JOBS, SCALINGS, WAYS, Job, Measurement, Scaling

FILE = "answers.json"
_LONGEST = 120  # letters of an error


class Records:
    """Records by the name of their measurement, in a file that is written after each of them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        kept = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}
        self.records: dict[str, dict] = kept.get("records", {})
        self.done: list[str] = kept.get("done", [])

    def write(self) -> None:
        """Write the file as a whole or not at all."""
        text = json.dumps({"done": self.done, "records": self.records}, indent=1, ensure_ascii=False, sort_keys=True)
        beside = self.path.with_suffix(".new")
        beside.write_text(text + "\n", "utf-8")
        os.replace(beside, self.path)

    def get(self, measurement: Measurement) -> dict:
        """The record of a measurement."""
        return self.records.get(measurement.name, {"reason": "not measured"})

    def put(self, name: str, record: dict) -> None:
        """Keep a record, unless it is only the reason why an older time could not be measured again."""
        if "seconds" in record or record.get("is_final") or "seconds" not in self.records.get(name, {}):
            self.records[name] = record

    def add(self, path: Path) -> list[str]:
        """Take over the times of another file of records, and return their names."""
        others = json.loads(path.read_text("utf-8"))["records"]
        names = [name for name, record in others.items() if "seconds" in record]
        for name in names:
            self.put(name, others[name])
        self.write()
        return names


def measure(measurement: Measurement) -> dict:
    """The record of one process. It is final if the process ran and would do so again: a time, or a limit exceeded."""
    about = {"origin": origin("answers"), "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "default")}
    try:
        if measurement.peer is not None:
            measurement.peer.python()
    except Unmeasured as error:
        return about | {"reason": str(error)}
    try:
        return about | measurement.run()
    except Unmeasured as error:
        return about | {"reason": str(error), "is_final": True}
    except RuntimeError as error:
        last = str(error).strip().splitlines()[-1].replace("|", "/")  # which would end a cell of the table
        return about | {"reason": f"failed: {last[:_LONGEST]}"}


def run(records: Records, names: list[str] | None = None) -> None:
    """Measure all jobs, or those with these names, less what a run that was stopped has done."""
    chosen = [each for each in (*JOBS, *SCALINGS) if names is None or each.name in names]
    chains = [chain for each in chosen for chain in _chains(each)]
    for chain in chains:
        _run_chain(records, chain)
    mine = {one.name for chain in chains for one in chain}
    records.done = [name for name in records.done if name not in mine]
    records.write()


def _chains(job: Job | Scaling) -> list[list[Measurement]]:
    """Measurements in which each is larger than the one before; those of jobs stand alone."""
    if isinstance(job, Scaling):
        return [list(job.measurements(way).values()) for way in WAYS]
    return [[one] for one in job.measurements]


def _run_chain(records: Records, chain: list[Measurement]) -> None:
    """Measure one size after the other. After the first that exceeds time or memory, larger ones are not tried."""
    reason = None
    for one in chain:
        if one.name not in records.done:
            record = measure(one) if reason is None else {"reason": reason, "is_final": True}
            records.put(one.name, record)
            if "seconds" in record or record.get("is_final"):
                records.done.append(one.name)
            records.write()
            print(f"{one.name}: {told(record)}", flush=True)
        record = records.get(one)
        if reason is None and record.get("is_final"):
            reason = f"not tried: a smaller one needed {record['reason']}"


def told(record: dict) -> str:
    """A record in a few words."""
    if "seconds" not in record:
        return record["reason"]
    return f"{record['seconds']:.2f} s, first {record['first']:.2f} s, {record['peak_mib']:.0f} MiB"
