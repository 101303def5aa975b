"""Errors of failed calls."""

from __future__ import annotations

from typing import Any

MESSAGES = {
    "no_response": "No response from the service.",
    "certificate_rejected": "The service's certificate is not trusted. Pass its authority as `verify`.",
    "unexpected_response": "The response is not from the service. Check the URL.",
    "outcome_unknown": "The outcome is unknown. Retry with the same `idempotency_key`.",
}


class TillbridgeError(Exception):
    """The error of a failed call. ``code`` is stable: branch on it. The subclasses group codes by what to do.

    Attributes:
        code: a code of the API's catalogue, or ``no_response``, ``certificate_rejected`` or ``unexpected_response``.
        status: the HTTP status, or None if no response arrived.
        errors: every validation error of the request, each with ``pointer`` and ``detail``.
        request_id: the request ID, for support.
        retry_after: seconds to wait before a retry, or None.
        idempotency_key: the idempotency key of the write, or None.
        problem: the complete error body (RFC 9457).
    """

    def __init__(
        self,
        code: str,
        status: int | None = None,
        problem: dict[str, Any] | None = None,
        retry_after: float | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        self.code = code
        self.status = status
        self.problem = problem or {}
        self.errors: list[dict[str, Any]] = self.problem.get("errors", [])
        self.request_id: str | None = self.problem.get("requestId")
        self.retry_after = retry_after
        self.idempotency_key = idempotency_key
        message = self.problem.get("detail") or self.problem.get("title") or MESSAGES.get(code, "The call failed.")
        super().__init__(f"{message} ({code})")


class InvalidRequestError(TillbridgeError):
    """The request is invalid, see ``errors``. A retry doesn't help."""


class AccessError(TillbridgeError):
    """The credentials, the role, or a voucher's PIN or validation are not accepted."""


class NotFoundError(TillbridgeError):
    """The record doesn't exist."""


class ConflictError(TillbridgeError):
    """The record's state doesn't allow the write: taken, locked or changed."""


class TooManyError(TillbridgeError):
    """Too many requests or failed attempts. Wait for ``retry_after`` seconds."""


class UnavailableError(TillbridgeError):
    """The service or its back office is unavailable. Nothing was changed."""


class OutcomeUnknownError(TillbridgeError):
    """The outcome of a write is unknown. Retry it with ``idempotency_key``."""


CLASSES = {
    401: AccessError,
    403: AccessError,
    404: NotFoundError,
    409: ConflictError,
    412: ConflictError,
    428: ConflictError,
    429: TooManyError,
}


def create_error(code: str, status: int | None = None, **details: Any) -> TillbridgeError:
    """Creates the error of the class that fits a code and a status."""
    if code == "outcome_unknown":
        return OutcomeUnknownError(code, status, **details)
    if status is None or status >= 500:
        return UnavailableError(code, status, **details)
    return CLASSES.get(status, InvalidRequestError)(code, status, **details)
