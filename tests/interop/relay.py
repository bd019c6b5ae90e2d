"""Servers and requests of 127.0.0.1 for parts that stand between two others.

It knows HTTP/1.1 and no partner in particular; what passes is the caller's
business.
"""

import http.client
import http.server
import threading

import interop

# Headers that concern one connection; and compression, because what passes is read.
HOP = {"accept-encoding", "connection", "keep-alive", "transfer-encoding", "content-length", "host",
       "te", "upgrade"}

_kept = threading.local()


def exchange(port, method, path, headers, body=b"", host=None):
    """One request on the thread's connection, never sent a second time."""
    connections = _kept.__dict__.setdefault("connections", {})
    connection = connections.get(port)
    if connection is None:
        connection = connections[port] = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=interop.PATIENCE)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or f"127.0.0.1:{port}")
        for name, value in headers.items():
            if name.lower() not in HOP:
                connection.putheader(name, value)
        if body or method not in ("GET", "HEAD"):
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    except Exception:
        connection.close()
        del connections[port]
        raise


def send(port, method, path, headers, body=b"", host=None):
    """One request to a server of 127.0.0.1: status, headers, body.

    A thread keeps its connections; one that the server has closed meanwhile is
    opened anew.
    """
    try:
        return exchange(port, method, path, headers, body, host)
    except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
        return exchange(port, method, path, headers, body, host)


def serve(answer, port=0, context=None):
    """Starts a server that answers with `answer(method, target, headers, body)`,
    which returns status, headers and body, or its pieces as they come; returns its
    port. It ends with the program. With an `ssl.SSLContext`, it speaks TLS."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Otherwise every answer waits for an acknowledgement.
        disable_nagle_algorithm = True

        def handle_any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                status, headers, content = answer(
                    self.command, self.path, dict(self.headers.items()), body)
            except Exception as error:  # Whatever it is, the client has to hear of it.
                status, headers, content = 502, {}, f"the relay: {error!r}".encode()
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in HOP:
                    self.send_header(name, value)
            if isinstance(content, bytes):
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                return
            # Their end is that of the connection.
            self.send_header("Connection", "close")
            self.end_headers()
            for piece in content:
                self.wfile.write(piece)

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = handle_any

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def finish_request(self, request, client_address):
            # In the connection's own thread: a slow handshake holds up nobody else.
            if context is not None:
                request = context.wrap_socket(request, server_side=True)
            super().finish_request(request, client_address)

        def handle_error(self, *_):
            # A client that was killed in mid-answer; some checks do that.
            pass

    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
