"""Passes messages between a client and its server on stdio, and records them.

    recorder.py LOG COMMAND…

Each line of LOG is a JSON array: the sender ("client" or "server"), the time in
seconds, and the message.
"""

import json
import subprocess
import sys
import threading
import time


def main():
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    log = open(sys.argv[1], "a", buffering=1, encoding="utf-8")
    lock = threading.Lock()

    def pass_on(who, source, target):
        try:
            for line in source:
                try:
                    message = json.loads(line)
                except ValueError:
                    # No message, but it has to pass all the same.
                    message = {"raw": line.decode("utf-8", "replace")}
                with lock:
                    log.write(json.dumps([who, time.monotonic(), message]) + "\n")
                target.write(line)
                target.flush()
        finally:
            target.close()

    threading.Thread(target=pass_on, args=("client", sys.stdin.buffer, server.stdin),
                     daemon=True).start()
    pass_on("server", server.stdout, sys.stdout.buffer)
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
