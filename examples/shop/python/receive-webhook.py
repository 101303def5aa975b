import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def verify_webhook(body: bytes, headers, secret: str):
    """Raises ValueError if the delivery isn't from Tillbridge, or is older than five minutes."""
    if abs(time.time() - int(headers.get('webhook-timestamp', 0))) > 300:
        raise ValueError('too old')
    key = base64.b64decode(secret.removeprefix('whsec_'))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = [entry.partition(',')[2].encode() for entry in headers.get('webhook-signature', '').split(' ')]
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise ValueError('wrong signature')


webhook_secret = os.environ['WEBHOOK_SECRET']


class Hooks(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['content-length']))
        try:
            verify_webhook(body, self.headers, webhook_secret)
        except ValueError as error:
            self.send_response(400)
            self.end_headers()
            self.wfile.write(str(error).encode())
            return
        # Store the changes and respond. Read the records later, at their `path`.
        for change in json.loads(body)['data'].get('changes', []):
            print(change['kind'], change['id'], change['action'], change['path'], flush=True)
        self.send_response(204)
        self.end_headers()


ThreadingHTTPServer(('', int(os.environ.get('PORT', 3000))), Hooks).serve_forever()
