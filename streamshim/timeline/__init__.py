"""A recorded stream as a picture: events over time, in lanes.

`read_timelines` gives the responses of a capture with the moment of each event, `draw` makes an SVG fragment of one,
`figure` puts filters and details around it, and `page` makes a whole page. Whoever has events and times of their own
makes a `Timeline` of `Moment`s, and embeds `figure` in a page with `style()` and `script()`.
"""

from .drawing import draw
from .moments import Moment, Read, Timeline, read_timelines
from .page import figure, page, script, style

__all__ = ["Moment", "Read", "Timeline", "draw", "figure", "page", "read_timelines", "script", "style"]
