"""Data sets. Oracles: the shapes and facts in the data's README, and the generators' own equations."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from semigp import datasets
from semigp.datasets import files, series


@pytest.fixture
def data_folder(shared, monkeypatch):
    monkeypatch.setenv("SEMIGP_DATA", str(shared / "data"))


@pytest.mark.usefixtures("data_folder")
def test_mocap():
    features, sequence = datasets.load_mocap()
    assert features.shape == (2613, 59)
    assert len(np.unique(sequence)) == 31
    assert np.all(features.std(axis=0) > 0)  # no column is constant
    assert np.abs(features[:, :50]).max() <= np.pi / 2


@pytest.mark.usefixtures("data_folder")
def test_mocap_test_motions():
    """A run of 44 frames and a walk of 125, each without its first. The run is three times as fast."""
    features, motion = datasets.load_mocap_test()
    assert features.shape == (167, 59)
    assert [int(np.sum(motion == each)) for each in (18, 29)] == [43, 124]
    assert np.abs(features[:, :50]).max() <= np.pi / 2
    speed = [np.median(np.hypot(*features[motion == each][:, 50:52].T)) for each in (18, 29)]
    assert 2.5 < speed[0] / speed[1] < 3.5
    training, _ = datasets.load_mocap()
    apart = np.abs(features[:, None] - training[None]).max(axis=2).min(axis=1)
    assert apart.min() > 0  # no frame is among the training frames


@pytest.mark.usefixtures("data_folder")
def test_oil():
    values, label = datasets.load_oil()
    assert values.shape == (1000, 12)
    assert set(label) == {0, 1, 2}


@pytest.mark.usefixtures("data_folder")
def test_usps():
    images, digit = datasets.load_usps((0, 1))
    assert images.shape == (2200, 256)
    assert images.min() == 0
    assert images.max() == 1
    # a one is a vertical stroke: the middle columns are bright, rows alike
    one = images[digit == 1].mean(axis=0).reshape(16, 16)
    assert one[:, 6:10].mean() > 3 * one[:, [0, 1, 14, 15]].mean()
    assert one.mean(axis=1).std() < one.mean(axis=0).std()


def test_damaged_and_absent_files(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIGP_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"3Class\.mat does not exist"):
        datasets.load_oil()
    (tmp_path / "oil").mkdir()
    (tmp_path / "oil" / "3Class.mat").write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"its sha256 differs\. Download it again"):
        datasets.load_oil()


def test_every_file_has_a_hash_and_an_address_that_does_not_move():
    for address, digest in files._FILES.values():
        assert re.fullmatch("[0-9a-f]{64}", digest)
        assert re.search("/[0-9a-f]{40}/", address)  # a commit


@pytest.fixture
def arrives(tmp_path, monkeypatch):
    """A function that says what a download brings; the cache is a folder of the test, and nothing is fetched."""
    pooch = pytest.importorskip("pooch")
    monkeypatch.delenv("SEMIGP_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda _: tmp_path)

    def bring(content):
        def write(self, url, output, *others, **options):
            Path(output).write_bytes(content)

        monkeypatch.setattr(pooch.HTTPDownloader, "__call__", write)

    return bring


def test_a_download_of_something_else_is_refused(arrives, tmp_path):
    arrives(b"something else")
    with pytest.raises(ValueError, match=r"3Class\.mat\) does not match the known hash"):
        datasets.load_oil()
    assert not list(tmp_path.iterdir())


def test_a_file_altered_in_the_cache_is_fetched_again(arrives, monkeypatch):
    address, _ = files._FILES["oil/3Class.mat"]
    monkeypatch.setitem(files._FILES, "oil/3Class.mat", (address, hashlib.sha256(b"the file").hexdigest()))
    arrives(b"the file")
    path = files.checked_path("oil/3Class.mat")
    path.write_bytes(b"something else")
    assert files.checked_path("oil/3Class.mat").read_bytes() == b"the file"
    path.write_bytes(b"something else")
    arrives(b"something else again")
    with pytest.raises(ValueError, match="does not match the known hash"):
        files.checked_path("oil/3Class.mat")


def test_mackey_glass():
    """Oracle: the exact solution while nothing drives the series. MATLAB's mgdata.dat is not here to compare with."""
    values = datasets.make_mackey_glass(1201)
    assert len(values) == 1201
    # before the delay is over nothing drives the series: ζ = 1.2 exp(-0.1 t)
    np.testing.assert_allclose(values[:17], 1.2 * np.exp(-0.1 * np.arange(17)), rtol=1e-6)
    assert 0.2 < values[100:].min() < values[100:].max() < 1.4


def test_semi_described_covariances():
    """Oracle: the stated covariances; with 4000 columns the standard error of each entry is below √2/√4000."""
    inputs, outputs = datasets.make_semi_described(n_rows=12, n_inputs=4000, random_state=0)
    times = np.linspace(0, 6 * np.pi, 12)
    expected = np.exp(-0.1 * (times[:, None] - times) ** 2)
    np.testing.assert_allclose(inputs @ inputs.T / 4000, expected, atol=5 * np.sqrt(2 / 4000))
    assert outputs.shape == (12, 5)
    again, _ = datasets.make_semi_described(n_rows=12, n_inputs=4000, random_state=0)
    np.testing.assert_array_equal(inputs, again)


def test_semi_described_is_the_same_on_every_machine(monkeypatch):
    """Oracle: a machine whose eigenvectors have other signs, from rows in another order. 1e-6: the root of rounding."""
    here = datasets.make_semi_described(random_state=0)
    eigh = np.linalg.eigh

    def elsewhere(matrix):
        values, vectors = eigh(matrix[::-1, ::-1])
        return values, -vectors[::-1]

    monkeypatch.setattr(np.linalg, "eigh", elsewhere)
    for one, other in zip(here, datasets.make_semi_described(random_state=0), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_masks():
    assert datasets.mask_at_random((40, 5), 0.25, 0).sum() == 50
    columns = datasets.mask_columns((10_000, 2), np.array([0.1, 0.6]), 0).mean(axis=0)
    np.testing.assert_allclose(columns, [0.1, 0.6], atol=5 * 0.5 / 100)
    blocks = datasets.mask_blocks((200, 3), 0.3, 20, 0)
    assert 0.3 <= blocks.mean() < 0.34
    runs = np.diff(np.flatnonzero(np.diff(np.r_[False, blocks[:, 0], False])))[::2]
    assert runs.min() >= 20


@pytest.mark.usefixtures("data_folder")
def test_tables_of_everyday_kinds():
    """Oracle: the data's README. The real holes: nine sexes of penguins, and six cars' horsepowers."""
    shapes = {"concrete": (1030, 8), "energy": (768, 8), "yacht": (308, 6), "airfoil": (1503, 5), "stock": (536, 11)}
    for name, shape in (shapes | {"machine": (209, 7)}).items():
        X, y = datasets.load_uci(name)
        assert (X.shape, len(y)) == (shape, shape[0])
    pytest.importorskip("pandas")
    for name, (rows, columns, lost) in {"penguins": (342, 6, 9), "tips": (244, 6, 0), "mpg": (398, 8, 6)}.items():
        frame, target = datasets.load_mixed(name)
        assert (frame.shape, int(frame.isna().sum().sum())) == ((rows, columns), lost)
        assert not target.isna().any()
        assert target.name not in frame.columns
    frame, target = datasets.load_mixed("penguins", all_rows=True)  # two birds without any measurement
    assert (len(frame), int(target.isna().sum()), int(frame.isna().sum().sum())) == (344, 2, 11 + 2 * 3)


def test_tables_that_are_not_there():
    with pytest.raises(ValueError, match=r"there is no table 'wine'; there are airfoil,"):
        datasets.load_uci("wine")
    with pytest.raises(ValueError, match=r"there is no table 'wine'; there are penguins,"):
        datasets.load_mixed("wine")


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_holes_that_depend_on_what_is_seen(share):
    """The share is right within five standard errors of 20,000 draws, and grows with the driver, whatever its scale."""
    driver = np.exp(np.random.default_rng(0).normal(size=4000))
    mask = datasets.mask_by_rank(driver, 5, share, 1)
    assert abs(mask.mean() - share) < 5 * np.sqrt(share * (1 - share) / mask.size)
    thirds = [part.mean() for part in np.array_split(mask[np.argsort(driver)], 3)]
    assert thirds[0] < 0.6 * share < 1.4 * share < thirds[2]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_outages_of_several_columns(share):
    """Exactly the share is lost, no more often at the end than in the middle; where one column is lost, others are."""
    mask = datasets.mask_outages((400, 6), share, 20, 0)
    assert mask.sum() == round(share * mask.size)
    assert np.mean(mask.sum(axis=1)[mask.any(axis=1)] >= 3) > 0.98
    ends = np.mean([datasets.mask_outages((60, 4), share, 20, seed)[[0, -1]] for seed in range(300)])
    assert abs(ends - share) < 0.06  # a correlated mean: 300 tables, about one outage at each end


@pytest.mark.usefixtures("data_folder")
def test_series_of_m4():
    """Oracles: the data's README, and the first values to come of W14 and W64 in the competition's own file."""
    weekly, hourly = (datasets.load_m4(frequency) for frequency in ("weekly", "hourly"))
    assert (len(weekly), {len(future) for _, _, future in weekly}) == (60, {13})
    assert (len(hourly), {len(future) for _, _, future in hourly}) == (40, {48})
    assert max(len(past) for _, past, _ in weekly) == 1000
    firsts = {name: future[0] for name, _, future in weekly}
    assert (firsts["W14"], firsts["W64"]) == (2341.516, 14834)


@pytest.mark.usefixtures("data_folder")
def test_downloaded_series_are_cut_to_the_same(tmp_path, monkeypatch):
    """The competition's files have a row for each series, here with others, and with longer pasts than are kept."""
    known = datasets.load_m4("hourly")
    for part, place in (("train", 1), ("test", 2)):
        rows = [["V1", "V2"], ["H1", "7", "NA"]] + [[s[0], "3.5", *map(repr, s[place].tolist()), ""] for s in known]
        text = "\n".join(",".join(f'"{cell}"' for cell in (r if part == "train" else [r[0], *r[2:]])) for r in rows)
        (tmp_path / f"Hourly-{part}.csv").write_text(text)
    monkeypatch.delenv("SEMIGP_DATA")
    monkeypatch.setattr(series, "downloaded", lambda address, digest: tmp_path / address.rpartition("/")[2])
    monkeypatch.setattr(series, "_LONGEST", 700)
    found = series._cut_originals("hourly")
    assert [name for name, _, _ in found] == [name for name, _, _ in known]
    for (_, past, future), (_, known_past, known_future) in zip(found, known, strict=True):
        np.testing.assert_array_equal(past, known_past[-700:])
        np.testing.assert_array_equal(future, known_future)
    with pytest.raises(ValueError, match=r"hourly series under .* are not the expected ones"):
        datasets.load_m4("hourly")
    assert series._content_hash(known) == series._M4_HASHES["hourly"][1]


@pytest.mark.usefixtures("data_folder")
def test_measured_systems():
    lengths = {"actuator": 512, "ballbeam": 500, "drive": 250, "dryer": 500}
    for name, n_train in lengths.items():
        inputs, outputs, found = datasets.load_sysid(name)
        assert (inputs.shape, outputs.shape, found) == ((2 * n_train,), (2 * n_train,), n_train)


def test_series_that_are_not_there():
    with pytest.raises(ValueError, match="there are no 'daily' series; there are weekly, hourly"):
        datasets.load_m4("daily")
    with pytest.raises(ValueError, match="there is no system 'tank'; there are actuator,"):
        datasets.load_sysid("tank")
