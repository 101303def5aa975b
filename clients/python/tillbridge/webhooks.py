"""Verification of webhook deliveries (Standard Webhooks 1.0.0)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

TOLERANCE_SECONDS = 300
"""The largest difference between a delivery's timestamp and our clock."""


class WebhookError(Exception):
    """A delivery that can't be verified.

    ``code`` is ``header_missing``, ``timestamp_off``, ``signature_wrong`` or ``secret_malformed``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def verify_webhook(body: bytes, headers: Mapping[str, str], *secrets: str) -> dict[str, Any]:
    """Verifies the signature and the age of a delivery. Returns its body.

    Args:
        body: the raw body, before any parsing.
        headers: the headers of the delivery. Upper and lower case don't matter.
        secrets: ``whsec_…``; during a rotation, the old one and the new one.

    Raises:
        WebhookError: the delivery isn't from the service, or is too old.
    """
    values = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not values.get(name):
            raise WebhookError("header_missing", f"The header {name} is missing.")
    timestamp = values["webhook-timestamp"]
    if not (timestamp.isdecimal() and abs(time.time() - int(timestamp[:12])) <= TOLERANCE_SECONDS):
        raise WebhookError("timestamp_off", f"The timestamp must be within {TOLERANCE_SECONDS} seconds of this clock.")
    signed = f"{values['webhook-id']}.{timestamp}.".encode() + body
    signatures = [each[3:] for each in values["webhook-signature"].split(" ") if each.startswith("v1,")]
    for secret in secrets:
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            key = b""
        if not key:
            raise WebhookError("secret_malformed", "A secret must be `whsec_` followed by base64.")
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        if any(hmac.compare_digest(expected, signature.encode()) for signature in signatures):
            return json.loads(body)
    raise WebhookError("signature_wrong", "No signature matches a secret.")
