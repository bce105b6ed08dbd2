"""Fills a table by HyperImpute, in an environment with versions of its time. Run by path: it imports nothing of ours.

Usage: python hyperimpute_peer.py TABLE.npy FILLED.npz SEED
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import pandas


def main(source: str, target: str, seed: str) -> None:
    """Read a table with NaN; write it without them, and the seconds that it took."""
    from hyperimpute.plugins.imputers import Imputers

    warnings.simplefilter("ignore")
    table = pandas.DataFrame(np.load(source))
    started = time.perf_counter()
    filled = Imputers().get("hyperimpute", random_state=int(seed)).fit_transform(table)
    np.savez(target, filled=np.asarray(filled, float), seconds=time.perf_counter() - started)


if __name__ == "__main__":
    main(*sys.argv[1:])
