import base64, hashlib, hmac, os, time


def verify_webhook(body: bytes, headers, secret=os.environ['WEBHOOK_SECRET']):
    """Raises ValueError if the delivery isn't from Tillbridge, or is older than five minutes."""
    if abs(time.time() - int(headers['webhook-timestamp'])) > 300:
        raise ValueError('too old')
    key = base64.b64decode(secret.removeprefix('whsec_'))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = [each.partition(',')[2] for each in headers['webhook-signature'].split(' ')]
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise ValueError('wrong signature')
