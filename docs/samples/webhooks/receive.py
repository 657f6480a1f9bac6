# Receives webhooks: WEBHOOK_SECRET=whsec_... python3 receive.py
# Needs Python 3.8 or later, no packages. Set TLS_CERT and TLS_KEY to serve HTTPS.
import hashlib
import hmac
import json
import os
import re
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_S = 300
BODY_MAX_BYTES = 1024 * 1024


def verify(secret, header, body, now_s=None):
    """Return True if the unmodified bytes of `body` were signed with `secret` within five minutes of `now_s`."""
    parts = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    t, v1 = parts.get("t", ""), parts.get("v1", "")
    if not re.fullmatch("[0-9]{1,12}", t) or not re.fullmatch("[0-9a-f]{64}", v1):
        return False
    if abs(int(time.time() if now_s is None else now_s) - int(t)) > TOLERANCE_S:
        return False
    expected = hmac.new(secret.encode(), t.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, v1)


# IDs of processed events. In production, use a table with a unique key, in the transaction of your work.
handled = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length > BODY_MAX_BYTES:
            return self.respond(413)
        body = self.rfile.read(length)
        secret = os.environ["WEBHOOK_SECRET"]
        if not verify(secret, self.headers.get("X-Service-Signature") or "", body):
            return self.respond(400)
        event = json.loads(body)
        if event["id"] not in handled:
            handled.add(event["id"])
            print(event["id"], event["type"], flush=True)
        self.respond(204)

    def respond(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    os.environ["WEBHOOK_SECRET"]
    port = int(os.environ.get("PORT", "9000"))
    server = ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    if os.environ.get("TLS_CERT") and os.environ.get("TLS_KEY"):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print("listening on", port, flush=True)
    server.serve_forever()
