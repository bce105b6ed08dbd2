"""What a search tells."""

import numpy as np

from semigp.core.search.report import MESSAGES, FitReport, Progress, labelled, with_signal_to_noise


def _report():
    return FitReport("converged", MESSAGES["converged"], 1.0, np.ones(1), 1, 0.1, (), np.array([np.inf]))


def test_no_signal_in_any_output_is_said():
    """A tenth of the noise is the limit, and one output with signal is enough."""
    noise = with_signal_to_noise(_report(), np.array([0.09, 0.01]))
    assert noise.is_all_noise
    assert noise.message == MESSAGES["converged"] + (
        " Nearly everything is explained as noise: start with less noise, or hold signal and noise for longer."
    )
    signal = with_signal_to_noise(_report(), np.array([0.09, 0.1]))
    assert not signal.is_all_noise
    assert signal.message == MESSAGES["converged"]
    np.testing.assert_array_equal(signal.signal_to_noise, [0.09, 0.1])


def test_a_labelled_callback_knows_its_part_and_hands_its_answer_on():
    seen = []
    callback = labelled(lambda progress: seen.append(progress) or True, phase="trial", part=2, parts=3)
    assert callback(Progress("all", 1, 10, -5.0, 0.2))
    assert seen == [Progress("all", 1, 10, -5.0, 0.2, "trial", 2, 3)]
    assert labelled(None, part=1) is None
