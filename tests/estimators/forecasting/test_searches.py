"""Searches one after the other. Oracle: the reports that were noted."""

from types import SimpleNamespace

from semigp.core.search.report import Progress
from semigp.estimators.forecasting.searches import Searches

PROGRESS = Progress("exact", 1, 10, 0.0, 0.0)


def test_the_callback_hears_of_phase_and_part():
    heard = []
    Searches(heard.append).told("trial", 2, 5)(PROGRESS)
    assert [(each.phase, each.part, each.parts) for each in heard] == [("trial", 2, 5)]
    assert Searches(None).told("fit") is None


def test_after_an_interrupt_all_others_end_at_once_and_the_first_is_remembered():
    searches = Searches(lambda progress: None)
    reports = [SimpleNamespace(status=status) for status in ("converged", "interrupted", "interrupted")]
    assert searches.note(reports[0]) is reports[0]
    assert searches.interrupted is None
    for report in reports[1:]:
        searches.note(report)
    assert searches.interrupted is reports[1]
    assert searches.told("fit")(PROGRESS) is True
