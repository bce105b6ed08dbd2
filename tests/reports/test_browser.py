"""Reports in a real Chromium: on a screen, in the dark, on a phone, on paper. First the demo's, then every kind."""

import os
import re
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from semigp.demo import tell

from .data import KINDS

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    if os.environ.get("SEMIGP_BROWSER_REQUIRED"):
        raise RuntimeError("Chromium and its driver are needed here: apt-get install chromium chromium-driver")
    pytest.skip("needs Debian's packages chromium and chromium-driver", allow_module_level=True)

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
N_FIGURES = 11


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    said = []
    path = tell(tmp_path_factory.mktemp("demo") / "report.html", said.append)
    assert len(said) == 6
    return path


@pytest.fixture(scope="module")
def browser(report, tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    with webdriver.Chrome(options, webdriver.ChromeService(DRIVER)) as driver:
        driver.set_window_size(1200, 900)
        driver.get(report.as_uri())
        yield driver


def _media(browser, **features):
    told = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": told})


def _luminance(colour):
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_everything_is_there_and_nothing_is_fetched(browser, report):
    figures = browser.find_elements(By.CSS_SELECTOR, "figure > svg[role=img]")
    assert len(figures) == N_FIGURES
    for figure in figures:
        assert len(figure.get_attribute("aria-label")) > 15
        assert figure.size["width"] > 250
        assert figure.size["height"] > 100
    assert len(browser.find_elements(By.CSS_SELECTOR, "table caption")) == 4
    assert len(browser.find_elements(By.CSS_SELECTOR, "nav a")) == 5
    assert browser.get_log("browser") == []
    content = report.read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?!#|data:)', content)
    assert "url(http" not in content
    fetched = re.findall(r'"Network.requestWillBeSent".*?"url":"(\w+):', str(browser.get_log("performance")))
    assert set(fetched) <= {"file", "data", "chrome"}  # the last: Chromium's own first page


def test_ids_are_unique(browser):
    ids = browser.execute_script("return Array.from(document.querySelectorAll('[id]'), e => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser, scheme):
    """Text against the page: at least 4.5, as WCAG AA asks; the main colour of marks at least 3."""
    _media(browser, prefers_color_scheme=scheme)
    style = "return getComputedStyle(arguments[0]).getPropertyValue(arguments[1])"
    paper = browser.execute_script(style, browser.find_element(By.TAG_NAME, "body"), "background-color")
    assert (_luminance(paper) > 0.5) == (scheme == "light")
    for selector in ("p", "figcaption", "nav a", "caption", "dt"):
        element = browser.find_element(By.CSS_SELECTOR, selector)
        assert _contrast(browser.execute_script(style, element, "color"), paper) >= 4.5, selector
    text = browser.find_element(By.CSS_SELECTOR, "figure svg text")
    assert _contrast(browser.execute_script(style, text, "fill"), paper) >= 4.5
    colour = browser.execute_script(
        "const p = document.createElement('p'); p.style.color = 'var(--c0)'; document.body.append(p);"
        "const c = getComputedStyle(p).color; p.remove(); return c"
    )
    assert _contrast(colour, paper) >= 3


def test_values_show_on_hover(browser):
    _media(browser, prefers_color_scheme="light")
    spot = browser.find_elements(By.CSS_SELECTOR, "#f3 circle[data-tip]")[5]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", spot)
    browser.execute_async_script(
        "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
    )  # scrolling hides it
    ActionChains(browser).move_to_element(spot).perform()
    tip = browser.find_element(By.ID, "tip")
    assert tip.is_displayed()
    assert re.match(r"row \d+, [abc]: -?[\d.]+ ± [\d.]+, was -?[\d.]+", tip.text)


def _check_phone(browser):
    """Nothing is wider than the screen; wide tables scroll by themselves."""
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        widths = [figure.size["width"] for figure in browser.find_elements(By.CSS_SELECTOR, "figure > svg")]
        assert min(widths) > 280
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_phone(browser):
    _check_phone(browser)


def test_print(browser):
    """On paper it is light, whatever the screen; and there is more than one page, not a hundred."""
    _media(browser, prefers_color_scheme="dark")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    ink = browser.execute_script("return getComputedStyle(document.body).color")
    assert _luminance(ink) < 0.1
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert 50_000 < len(pdf) < 5_000_000
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_report(browser, pages, kind):
    """Every figure is described, nothing is said on the console, and a phone shows all of it. The last in this file."""
    browser.get_log("browser")
    browser.get(pages[kind][0].as_uri())
    figures = browser.find_elements(By.CSS_SELECTOR, "figure")
    assert len(figures) >= 2
    for figure in figures:
        assert len(figure.find_element(By.CSS_SELECTOR, "svg[role=img]").get_attribute("aria-label")) > 10
        assert len(figure.find_element(By.TAG_NAME, "figcaption").text) > 15
    assert len(browser.find_elements(By.CSS_SELECTOR, "nav a")) == len(browser.find_elements(By.TAG_NAME, "h2"))
    ids = browser.execute_script("return Array.from(document.querySelectorAll('[id]'), e => e.id)")
    assert len(ids) == len(set(ids))
    assert browser.get_log("browser") == []
    _check_phone(browser)
