"""Stages one after the other, of a search that says how each ends."""

import pytest

from semigp.core.search.stages import Stage, run_stages


class _Search:
    """Two iterations a stage."""

    def __init__(self, endings, results=()):
        self.endings, self.results, self.asked = list(endings), list(results), []
        self.trace = [0.0] * sum(count for *_, count in self.results)

    def run(self, stage, tolerance):
        self.asked.append((stage.name, tolerance))
        self.trace += [0.0, 0.0]
        return self.endings.pop(0)


STAGES = [Stage("one", 5), Stage("two", 5)]


def test_a_limit_leads_to_the_next_stage():
    search = _Search(["iteration limit", "converged"])
    assert run_stages(search, STAGES, 1e-3) == [("one", "iteration limit", 2), ("two", "converged", 2)]
    assert search.asked == [("one", 1e-3), ("two", 1e-3)]


@pytest.mark.parametrize("ending", ["interrupted", "failed"])
def test_a_search_that_cannot_go_on_ends(ending):
    assert run_stages(_Search([ending]), STAGES, 0.0) == [("one", ending, 2)]


def test_a_search_that_is_resumed_begins_after_what_it_has_done():
    search = _Search(["converged"], [("one", "stalled", 3)])
    assert run_stages(search, STAGES, 0.0) == [("one", "stalled", 3), ("two", "converged", 2)]
