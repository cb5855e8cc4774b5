"""JSON documents that stand in a body without any event-stream framing around them.

One document, several behind one another, one a line, or an array whose items are wanted as they close: `JsonBody` is
told where a document begins, takes bytes in any pieces, and gives each whole value as bytes. It finds the borders by
counting brackets (each byte is looked at once) and leaves the meaning to the JSON module, so that a value means the
same wherever it stood. ijson would find the borders too, but is quadratic inside one long string that comes in small
pieces, such as an image.
"""

from __future__ import annotations

from ..json_codec import Brackets


class JsonBody:
    """Reads one JSON document (an object or an array) from its first byte to its last.

    An array is no value of its own: its items are. Scalars among them have no meaning here and are passed over.
    """

    def __init__(self, max_bytes: int) -> None:
        """`max_bytes` bounds what one value may hold; a longer one is given as b""."""
        self.closed = False
        self._max_bytes = max_bytes
        self._brackets: Brackets[bytes] = Brackets()
        self._is_array: bool | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._inside = False

    def feed(self, data: bytes) -> tuple[list[bytes], bytes]:
        """The values that close in `data`, and what stands behind the document once it is `closed`."""
        values: list[bytes] = []
        brackets = self._brackets
        start = position = 0
        while (position := brackets.next(data, position)) >= 0:
            if self._is_array is None:
                self._is_array = data[position - 1 : position] == b"["
                self._inside = not self._is_array
                start = position - 1
                continue
            floor = 1 if self._is_array else 0
            if not self._inside and brackets.depth == 2:
                self._inside = True
                start = position - 1
            elif self._inside and brackets.depth <= floor:
                self._keep(data[start:position])
                values.append(self._take())
                self._inside = False
            if brackets.depth <= 0:
                self.closed = True
                return values, data[position:]
        if self._inside:
            self._keep(data[start:])
        return values, b""

    def rest(self) -> bytes:
        """What has come of a value that is not closed."""
        return b"".join(self._pieces)

    @property
    def too_long(self) -> bool:
        """Whether the value that is open has passed the limit."""
        return self._size > self._max_bytes

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= self._max_bytes:
            self._pieces.append(data)
        else:
            self._pieces.clear()

    def _take(self) -> bytes:
        value = b"" if self.too_long else b"".join(self._pieces)
        self._pieces, self._size = [], 0
        return value
