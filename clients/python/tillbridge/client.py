"""The connection to one service."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import httpx

from .generated import AuthenticatedClient
from .generated.api.changes import list_changes
from .transport import RetryTransport

FOLLOW_WAIT_SECONDS = 20
"""How long the service waits for a change before it returns an empty page."""


class Tillbridge:
    """The connection to one service of an installation.

    Args:
        url: the base URL, such as ``https://api.example.com``.
        api_key: the account's API key: base64 of username and password.
        service: the name of one of the account's services.
        verify: an ``ssl.SSLContext`` that trusts the service's certificate, if the system's authorities don't.
        timeout: seconds per attempt. It must be longer than the 20 seconds that ``follow`` waits.
        retry_seconds: for how long a call without effect is retried.
        reconcile_seconds: for how long a write with an unknown outcome is retried.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        service: str,
        *,
        verify: ssl.SSLContext | bool = True,
        timeout: float = 30.0,
        retry_seconds: float = 60.0,
        reconcile_seconds: float = 120.0,
    ) -> None:
        transport = RetryTransport(httpx.HTTPTransport(verify=verify), retry_seconds, reconcile_seconds)
        self.generated = AuthenticatedClient(
            base_url=url.rstrip("/"),
            token=api_key,
            prefix="Basic",
            headers={"X-Service-Name": service},
            timeout=httpx.Timeout(timeout),
            httpx_args={"transport": transport},
        )

    def __enter__(self) -> Tillbridge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self.generated.get_httpx_client().close()

    def call(self, operation: ModuleType, *args: Any, **parameters: Any) -> Any:
        """Calls an operation, a module of ``tillbridge.generated.api``. Returns the parsed response.

        Raises:
            TillbridgeError: the call failed.
        """
        return operation.sync_detailed(*args, client=self.generated, **parameters).parsed

    def records(self, operation: ModuleType, *args: Any, **parameters: Any) -> Iterator[Any]:
        """Yields the records of a list, page by page. A page is requested when it is needed."""
        while True:
            page = self.call(operation, *args, **parameters)
            yield from page.data
            if not page.meta.has_next_page:
                return
            parameters["after_cursor"] = page.meta.end_cursor

    def follow(
        self,
        *,
        kinds: str | None = None,
        cursor: str | None = None,
        save: Callable[[str], object] | None = None,
    ) -> Iterator[Any]:
        """Yields all changes, endlessly, also across outages shorter than ``retry_seconds``.

        ``save`` stores the cursor after all changes before it have been handled. Start the next run with this cursor.
        Each change comes at least once.

        Raises:
            TillbridgeError: with the code ``cursor_expired``, ``cursor`` is too old. Start without it.
        """
        parameters: dict[str, Any] = {"wait": FOLLOW_WAIT_SECONDS}
        if kinds is not None:
            parameters["kinds"] = kinds
        while True:
            if cursor is not None:
                parameters["after_cursor"] = cursor
            page = self.call(list_changes, **parameters)
            yield from page.data
            # The caller requests the next change only after it has handled this page.
            if page.meta.end_cursor is not None and page.meta.end_cursor != cursor:
                cursor = page.meta.end_cursor
                if save is not None:
                    save(cursor)
