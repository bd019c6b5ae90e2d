"""Interop part: the data of the comparison with other servers is whole.

    peers_data.py BINARY

The comparison itself, peers/run, takes minutes and installs other people's servers, so it is
no part; here it is held that its tasks, rows and versions agree.
"""

import os
import sys

import interop

sys.path.insert(0, os.path.join(interop.HERE, "peers"))
import bench  # noqa: E402

checks = interop.Checks("peers_data")


def main():
    data = bench.tasks()
    checks.same("tasks, rows and versions agree", bench.check(data), [])
    for task in data["tasks"]:
        facts = {**task.get("facts", {}), **task.get("state", {}).get("facts", {})}
        checks.same(f"{task['name']}: an empty answer lacks every fact",
                    bench.missing(facts, ""), list(facts))
    checks.close()


if __name__ == "__main__":
    main()
