"""How the documentation is built: `make docs`. Needs no network, neither to build nor to read."""

import os
import sys
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import semigp

project = "semigp"
author = "The semigp authors"
copyright = "the semigp authors, BSD-3-Clause"  # noqa: A001  # Sphinx's name for it
version = release = semigp.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "semigp_docs",
]
exclude_patterns = ["_templates", "gallery/*.rst", "auto_gallery/*.ipynb", "auto_gallery/*.py", "auto_gallery/*.zip"]
templates_path = ["_templates"]
default_role = "py:obj"
language = "en_GB"
toc_object_entries_show_parents = "hide"

# ---- pages
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# ---- reference
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

# ---- gallery
# The penguins are read from $SEMIGP_DATA, or from the data folder beside the checkout. A build downloads nothing: where
# they are not, their page has the code and no figures.
beside = Path(__file__).parents[2] / "shared" / "data"
if beside.is_dir():
    os.environ.setdefault("SEMIGP_DATA", str(beside))
has_penguins = (Path(os.environ.get("SEMIGP_DATA") or "no data") / "mixed" / "penguins.csv").is_file()
if os.environ.get("SEMIGP_SHARED_REQUIRED") and not has_penguins:
    raise FileNotFoundError(f"penguins.csv must be in {beside / 'mixed'} in CI, or in the folder of SEMIGP_DATA.")
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$" if has_penguins else r"(?<!penguins)\.py$",
    "within_subsection_order": "semigp_docs.GalleryOrder",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
    "backreferences_dir": "auto_gallery/used_by",
    "doc_module": ("semigp",),
}

# ---- looks
html_theme = "pydata_sphinx_theme"
html_title = "semigp"
html_static_path = ["_static"]
html_css_files = ["semigp.css"]
html_math_renderer = "mathml"
html_sidebars = {page: [] for page in ("index", "auto_gallery/index")}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "semigp"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
