"""Pages that commands write: the Python on them does the same."""

import re
import warnings
from html import unescape

import pandas
import pytest

MESSY = """id,size,kind,garden,price
00001,62.7,flat,yes,"$1,234.50"
00002,n/a,house,no,"$2,100.00"
00003,71.0,flat,,"$1,400.00"
00004,55.1,NA,no,"$1,010.25"
00005,90.3,house,yes,"$2,600.00"
00006,84.2,house,no,
00007,48.0,flat,yes,"$990.00"
00008,66.6,flat,no,"$1,290.00"
00009,,house,yes,"$2,300.00"
00010,77.5,house,no,"$2,050.00"
00011,59.9,flat,yes,"$1,180.00"
00012,81.4,house,,"$2,200.00"
"""


@pytest.mark.parametrize(
    "command",
    ["regress messy.csv --target price --report page.html", "impute messy.csv -o filled.csv --report page.html"],
)
def test_the_python_on_the_page_runs_as_written(command, shell, tmp_path, monkeypatch):
    """It reads the same file, fits the same model, and writes a page again."""
    (tmp_path / "messy.csv").write_text(MESSY)
    shell(f"semigp {command}")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (code,) = re.findall(r"<pre><code>(.*?)</code></pre>", page, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the column of keys, which is left out
        exec(unescape(code), names)
    assert (tmp_path / "report.html").exists()
    expected = pandas.read_csv("messy.csv").columns.drop("price").tolist()
    assert names["X"].columns.tolist() == (expected if "regress" in command else [*expected, "price"])
