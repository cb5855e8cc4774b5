"""HTTP without a network: clients of httpx or httpx2 that have every request answered from memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

URL = "http://memory.test/v1"


class MemoryWire:
    """What comes back for a request, whatever it asks for.

    Attributes:
        pieces: of the body; they are set before each request.
    """

    def __init__(self, http: Any) -> None:
        """`http` is the module httpx or httpx2."""
        self.pieces: Sequence[bytes] = ()
        self._http = http

        class Body(http.SyncByteStream, http.AsyncByteStream):  # type: ignore[misc]
            """The pieces as they are now, for either kind of client."""

            def __init__(self, pieces: Sequence[bytes]) -> None:
                self._pieces = pieces

            def __iter__(self) -> Iterator[bytes]:
                return iter(self._pieces)

            async def __aiter__(self) -> AsyncIterator[bytes]:
                for piece in self._pieces:
                    yield piece

        def answer(_request: Any) -> Any:
            return http.Response(200, headers={"Content-Type": "text/event-stream"}, stream=Body(self.pieces))

        self._transport = http.MockTransport(answer)

    def client(self) -> Any:
        """A synchronous client."""
        return self._http.Client(transport=self._transport)

    def async_client(self) -> Any:
        """An asynchronous client."""
        return self._http.AsyncClient(transport=self._transport)
