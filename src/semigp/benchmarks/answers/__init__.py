"""The time to an answer, from a first command to 100,000 rows: `semigp bench answers`.

Every job runs in a process of its own, with the default settings of each estimator. Competitors do the same job in the
same run. The result is a page, a picture, and a file of records, with which a run that was stopped goes on.
"""

from pathlib import Path


def main(folder: Path, names: list[str] | None = None, afresh: bool = False) -> None:
    """Measure all jobs, or those with these names, and write the page and the picture.

    A run that was stopped goes on where it was, unless it is to begin `afresh`.
    """
    from .records import Records, run

    records = Records(folder)
    if afresh:
        records.done = []
    run(records, names)
    write(records, folder)


def write(records, folder: Path) -> None:
    """The page and the picture of records."""
    from .figure import figure
    from .report import TABLE, report

    (folder / TABLE).write_text(report(records), "utf-8")
    try:
        figure(records, folder)
    except ModuleNotFoundError as error:
        print(f"No picture: {error}")
