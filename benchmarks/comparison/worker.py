"""A process of its own for one client: `python -m benchmarks.comparison.worker API CLIENT URL [relayed]`.

It says "ready" once the client is loaded and has made a first request. Then each line on standard input is one
request, and the account of it one line of JSON on standard output.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from typing import TYPE_CHECKING

from .account import Account
from .chat_clients import CHAT_CLIENTS
from .responses_clients import RESPONSES_CLIENTS

if TYPE_CHECKING:
    from .reading import Read

CLIENTS = {"chat": CHAT_CLIENTS, "responses": RESPONSES_CLIENTS}


def main() -> None:
    """Answer until standard input ends."""
    api, client, url, *over = sys.argv[1:]
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what a client prints is no account
        logging.disable()
        warnings.simplefilter("ignore")
        read = CLIENTS[api][client](url, relayed=over == ["relayed"])
        account_of(read)  # what a client loads with its first request is no part of the first scenario's time
        print("ready", file=answers, flush=True)
        for _line in sys.stdin:
            print(json.dumps(account_of(read).to_json()), file=answers, flush=True)


def account_of(read: Read) -> Account:
    """Make one request; an exception becomes part of the account."""
    account = Account()
    try:
        read(account)
    except Exception as problem:  # noqa: BLE001
        account.ended = "raised"
        account.error = f"{type(problem).__name__}: {problem}"
    return account


if __name__ == "__main__":
    main()
