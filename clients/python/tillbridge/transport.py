"""Sends requests until their response is final."""

from __future__ import annotations

import json
import random
import time
import uuid

import httpx

from .errors import TillbridgeError, create_error

RETRY = {
    "request_timeout",
    "rate_limited",
    "concurrent_update",
    "service_unavailable",
    "back_office_unavailable",
}
RECONCILE = {"idempotency_in_progress", "outcome_unknown", "no_response"}
"""A write with one of these codes may have been carried out. A retry with its key finds out."""
BEFORE_THE_WRITE = {"unexpected_response", "certificate_rejected", "service_not_assigned", "insufficient_role"}
"""Codes of responses that were sent before the service looked up the idempotency key."""
BASE_DELAY_SECONDS, MAX_DELAY_SECONDS = 0.25, 10.0


class RetryTransport(httpx.BaseTransport):
    """Adds an idempotency key to each POST, and retries what is safe to retry.

    All attempts of a write share one key, so it takes effect once. Raises TillbridgeError for each error response, and
    if no response arrives.
    """

    def __init__(self, inner: httpx.BaseTransport, retry_seconds: float, reconcile_seconds: float) -> None:
        self._inner = inner
        self._retry_seconds = retry_seconds
        self._reconcile_seconds = max(reconcile_seconds, retry_seconds)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        if request.method == "POST" or request.url.path.endswith("/lock"):
            request.headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        started_at = time.monotonic()
        is_unknown = False
        attempts = 0
        while True:
            result = self._attempt(request)
            if isinstance(result, httpx.Response):
                return result
            is_gateway_error = result.code == "unexpected_response" and result.status in (502, 503, 504)
            needs_reconciling = is_gateway_error or result.code in RECONCILE
            if not needs_reconciling and result.code not in RETRY:
                raise _outcome_unknown(result) if is_unknown and _leaves_outcome_open(request, result) else result
            is_unknown = is_unknown or (needs_reconciling and request.method != "GET")
            delay = random.uniform(0.5, 1.0) * min(MAX_DELAY_SECONDS, BASE_DELAY_SECONDS * 2**attempts)
            delay = max(delay, result.retry_after or 0)
            limit = self._reconcile_seconds if is_unknown else self._retry_seconds
            if time.monotonic() + delay > started_at + limit:
                raise _outcome_unknown(result) if is_unknown else result
            time.sleep(delay)
            attempts += 1

    def close(self) -> None:
        self._inner.close()

    def _attempt(self, request: httpx.Request) -> httpx.Response | TillbridgeError:
        key = request.headers.get("Idempotency-Key")
        try:
            response = self._inner.handle_request(request)
            try:
                response.read()
            finally:
                response.close()
            if response.status_code < 400:
                return response
        except httpx.TransportError as error:
            code = "certificate_rejected" if "CERTIFICATE_VERIFY_FAILED" in str(error) else "no_response"
            return create_error(code, idempotency_key=key)
        problem = _parse_problem(response)
        return create_error(
            problem["code"] if problem else "unexpected_response",
            response.status_code,
            problem=problem,
            retry_after=_parse_seconds(response.headers.get("Retry-After")),
            idempotency_key=key,
        )


def _outcome_unknown(cause: TillbridgeError) -> TillbridgeError:
    error = create_error("outcome_unknown", retry_after=cause.retry_after, idempotency_key=cause.idempotency_key)
    error.__cause__ = cause
    return error


def _leaves_outcome_open(request: httpx.Request, error: TillbridgeError) -> bool:
    """Returns True if an error says nothing about the outcome of an earlier attempt."""
    status = error.status or 0
    # The earlier attempt may have changed or deleted the record.
    if status == 412 or (request.method == "DELETE" and status == 404):
        return True
    return status >= 500 or status in (401, 429) or error.code in BEFORE_THE_WRITE


def _parse_problem(response: httpx.Response) -> dict | None:
    try:
        problem = response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None
    return problem if isinstance(problem, dict) and isinstance(problem.get("code"), str) else None


def _parse_seconds(header: str | None) -> float | None:
    return float(header) if header is not None and header.isdigit() else None
