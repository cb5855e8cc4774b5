"""Sphinx: Markdown pages, built with `make docs`, warnings are errors."""

from importlib import metadata

project = "streamshim"
author = "streamshim contributors"
copyright = "2026, streamshim contributors"
release = metadata.version("streamshim")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

nitpicky = False
html_theme = "furo"
html_title = f"streamshim {release}"
