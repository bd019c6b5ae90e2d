"""The hosts of Google and Microsoft on loopback, before a sandbox: everything that a server
requests of them is counted, and answered 50 ms later than it could be.

It has to run in a mount and network namespace of its own (`run` makes it): there, the hosts
file and port 443 are nobody else's, and no server can reach the real hosts. The certificate
is made for this run, and the servers trust it by the settings that each language has for it.
"""

import datetime
import ipaddress
import os
import ssl
import subprocess
import threading
import time
import urllib.parse

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import interop
import relay

HOSTS = ["accounts.google.com", "oauth2.googleapis.com", "www.googleapis.com",
         "gmail.googleapis.com", "calendar.googleapis.com", "people.googleapis.com",
         "login.microsoftonline.com", "graph.microsoft.com"]
# Seconds by which the API's answers are late.
LATENCY = 0.05


def certificate(folder):
    """A certificate for the hosts, signed by itself; the paths of both parts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loopback")])
    now = datetime.datetime.now(datetime.UTC)
    hosts = [x509.DNSName(host) for host in HOSTS]
    hosts.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256()))
    paths = f"{folder}/loopback.pem", f"{folder}/loopback.key"
    with open(paths[0], "wb") as file:
        file.write(made.public_bytes(serialization.Encoding.PEM))
    with open(paths[1], "wb") as file:
        file.write(key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption()))
    return paths


def trusting(path):
    """The settings by which Node and Python trust a certificate."""
    return {"NODE_EXTRA_CA_CERTS": path, "SSL_CERT_FILE": path, "REQUESTS_CA_BUNDLE": path,
            "HTTPLIB2_CA_CERTS": path, "CURL_CA_BUNDLE": path}


class Wire:
    """A sandbox that answers as the hosts do."""

    def __init__(self, binary, folder):
        self.binary, self.folder = os.path.abspath(binary), folder
        home = interop.temp_folder("wire")
        own, key = certificate(home)
        self.trust = trusting(own)
        # Our own requests, as of a browser, trust it too.
        os.environ.update(self.trust)
        with open(f"{home}/hosts", "w") as file:
            file.write("127.0.0.1 localhost\n")
            file.writelines(f"127.0.0.1 {host}\n" for host in HOSTS)
        subprocess.run(["mount", "--bind", f"{home}/hosts", "/etc/hosts"], check=True)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(own, key)
        context.set_alpn_protocols(["http/1.1"])
        self.lock, self.seen, self.process = threading.Lock(), [], None
        relay.serve(self.answer, 443, context)
        self.plain = f"http://127.0.0.1:{relay.serve(self.answer)}"

    def begin(self):
        """A new sandbox: the same mailboxes, and nothing of what was written before."""
        if self.process is not None:
            interop.stop(self.process)
        self.port = interop.free_port()
        self.sandbox = f"http://127.0.0.1:{self.port}"
        self.process = interop.start_server(
            [self.binary, "sandbox", "--port", str(self.port)], self.port,
            env=interop.Daysheet(self.binary).env)

    def answer(self, method, target, headers, body):
        begun = time.monotonic()
        host = next((value for name, value in headers.items() if name.lower() == "host"), "")
        scheme = "https" if host in HOSTS else "http"
        if target.startswith("http"):
            target = target[len(f"{scheme}://{host}"):]
        status, fields, content = relay.send(self.port, method, target, headers, body)
        content = content.replace(self.sandbox.encode(), f"{scheme}://{host}".encode())
        time.sleep(max(0.0, LATENCY - (time.monotonic() - begun)))
        with self.lock:
            self.seen.append((begun, time.monotonic(), f"{method} {target}", status,
                              len(body) + len(content)))
        return status, fields, content

    def counted(self):
        """What passed since it was last asked for: requests, how many of them one after the
        other, bytes of bodies, and each request."""
        with self.lock:
            seen, self.seen = self.seen, []
        steps, until = 0, 0.0
        for begun, end, *_ in sorted(seen, key=lambda one: one[1]):
            if begun >= until:
                steps, until = steps + 1, end
        return {"requests": len(seen), "steps": steps, "bytes": sum(one[4] for one in seen),
                "paths": [f"{one[3]} {urllib.parse.unquote(one[2])}" for one in seen]}
