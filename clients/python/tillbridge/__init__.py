"""A client of the Tillbridge retail integration API.

``tillbridge.generated`` has a module for each operation and a class for each schema. This package adds
idempotency keys, retries, errors, paging, the change feed and the verification of webhooks.
"""

from .client import Tillbridge
from .errors import (
    AccessError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    OutcomeUnknownError,
    TillbridgeError,
    TooManyError,
    UnavailableError,
)
from .webhooks import WebhookError, verify_webhook

__all__ = [
    "AccessError",
    "ConflictError",
    "InvalidRequestError",
    "NotFoundError",
    "OutcomeUnknownError",
    "Tillbridge",
    "TillbridgeError",
    "TooManyError",
    "UnavailableError",
    "WebhookError",
    "verify_webhook",
]
