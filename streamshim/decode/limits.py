"""What a hostile stream may make us hold, in one place. Past a cap the thing is dropped, reported and read on."""

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""One frame: images of 20 MB in one line are real; three times that is not."""

MAX_CHOICES = 1_000
"""Answers to one request: vendors allow 128 at most."""

MAX_PARTS = 100_000
"""Parts of one stream: an answer of a million tokens has some hundred."""

MAX_HELD_CHARACTERS = 4 * 1024 * 1024
"""Text that waits to be understood: a possible tag, a mirrored block, arguments whose call has no name yet."""

MAX_UNKNOWN_NAMES = 1_000
"""Distinct names of frames that are not modelled, and distinct sources cited: a set is kept of each."""

MAX_ERRORS = 1_000
"""Distinct errors of one stream."""

MAX_CITATIONS = 100_000
"""Distinct citations of one stream."""

MAX_ITEMS = 100_000
"""Items of one Responses stream."""

FRAMES_BEFORE_START = 16
"""How long StreamStart waits for an id or a model: real streams have both in the first frame, gateways in the third."""
