#!/usr/bin/env python3
"""For tests: a management controller on a port of this machine.

    redfish_server.py ANSWERS [CERTIFICATE KEY]   prints its port; TLS with a certificate

ANSWERS is a JSON file, read again for each question: {"/path": {"status": 200, "body": {...}}}.
Answers only user `meter` with password `secret`. `"text"` in place of `"body"` is sent as it is;
`"hang": true` is never answered.
"""

import base64
import http.server
import json
import ssl
import sys
import threading

RIGHT = "Basic " + base64.b64encode(b"meter:secret").decode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with open(sys.argv[1], encoding="utf-8") as file:
            answer = json.load(file).get(self.path, {"status": 404, "body": {}})
        if self.headers.get("Authorization") != RIGHT:
            answer = {"status": 401, "body": {}}
        if answer.get("hang"):
            threading.Event().wait()
        body = answer.get("text", json.dumps(answer.get("body", {}))).encode()
        self.send_response(answer.get("status", 200))
        for name, value in answer.get("headers", {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):  # a client that goes away is part of the tests
        pass


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
