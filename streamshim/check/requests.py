"""What is asked: requests as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

Api = Literal["completions", "chat", "responses"]
Key = Literal["given", "wrong"]


class IdOf(str):
    """Stands in a request for the id of the answer to the request of this name."""

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        """What a dry run and the reports show of it."""
        return super().__new__(cls, f"<id of {name}>")

    @property
    def name(self) -> str:
        """Of the request whose answer has the id."""
        return self.removeprefix("<id of ").removesuffix(">")


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked.

    Attributes:
        name: unique, stable.
        api: whose endpoint; None for the list of models.
        body: the JSON; None for a GET. An `IdOf` in it waits for another answer.
        path: behind the base URL.
        resource: the answer whose id stands at the end of the path.
        output_tokens: at most so many may come.
        key: the user's key, or one that cannot be right.
        is_wrong: whether the server must refuse it.
        cut: the client leaves once so many bytes have come.
        times: a GET that is asked again, at most so many times in all, while the answer is under way.
        is_live: whether it was sent; what asked for a recorded stream is not known.
    """

    name: str
    api: Api | None
    path: str
    body: dict[str, Any] | None = None
    output_tokens: int = 0
    key: Key = "given"
    is_wrong: bool = False
    cut: int | None = None
    resource: IdOf | None = None
    times: int = 1
    is_live: bool = True

    @property
    def method(self) -> str:
        """GET where there is no body."""
        return "GET" if self.body is None else "POST"

    @property
    def is_streamed(self) -> bool:
        """Whether an event stream is asked for, or may have been."""
        return not self.is_live or bool(self.body and self.body.get("stream"))

    @property
    def has_tools(self) -> bool:
        """Whether calls may come, be it as the markup of a template."""
        return bool(self.body and self.body.get("tools"))

    @property
    def waits_for(self) -> list[IdOf]:
        """The ids of other answers that it needs."""
        values = [*(self.body or {}).values(), self.resource]
        return [value for value in values if isinstance(value, IdOf)]
