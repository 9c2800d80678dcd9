"""Configuration of Sphinx for the documentation site. tools/site/build.py gives the version and the source folder."""
import os

project = "gpucsr"
author = "gpucsr developers"
release = version = os.environ.get("GPUCSR_RELEASE", "")
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
highlight_language = "none"
html_theme = "furo"
html_title = f"gpucsr {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
myst_heading_anchors = 4  # links to headings as on GitHub
smartquotes = False
suppress_warnings = ["misc.highlighting_failure"]
