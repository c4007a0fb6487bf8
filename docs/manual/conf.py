"""What Sphinx is told of the manual; scripts/manual gives the pages and the version."""

import os

project = "warptwin"
author = "the warptwin authors"
copyright = author
version = release = os.environ["WARPTWIN_VERSION"]
extensions = ["myst_parser"]
# As GitHub calls them, so that one link works in both.
myst_heading_anchors = 6
html_theme = "alabaster"
html_theme_options = {"page_width": "75em", "sidebar_width": "16em", "fixed_sidebar": True}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
highlight_language = "none"
