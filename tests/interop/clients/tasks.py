"""The tokens that each client's model receives for the tasks of tests/interop/peers.

    tasks.py COSTS RESULTS [--only NAME,…]

COSTS and RESULTS are what `peers/run BINARY --json COSTS --texts RESULTS` has
written. For each task, Daysheet's results and those of the best other server (the
one whose complete answer has the fewest tokens) are replayed to each client, and
the tokens that its request to the model has of them are counted (o200k); a star
marks an answer that the client has cut. Prints a table. Not part of the gate, because the other
servers are not.
"""

import argparse
import json
import os
import re
import sys

import clients
import drivers
import interop
import npm_partners

OURS = ("daysheet", "google")
# How clients mark an answer that they have cut.
CUT = re.compile(r"truncated|<persisted-output>|\[omitted ")


def best(costs, task):
    """The server whose complete answer to a task is the shortest, and its provider."""
    found = [(cost["out"], server["server"], server["provider"])
             for server in costs if not server["server"].startswith("daysheet")
             if (cost := server["tasks"].get(task)) and "out" in cost and not cost["lacks"]]
    return min(found)[1:]


def results_of(folder, server, task):
    name, provider = server
    with open(f"{folder}/{provider}-{name.replace(', ', '-')}-{task}.json", encoding="utf-8") as file:
        return json.load(file)


def replayed(driver, results, node):
    """The tokens that a client's model gets of each result, and which of them are cut."""
    folder = interop.temp_folder("replay")
    path = os.path.join(folder, "results.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results, file)
    command = [sys.executable, os.path.join(clients.HERE, "replay.py"), path]
    scenes = [(number, "mail_replay", {"number": number}) for number in range(len(results))]
    run = clients.Run(driver, command, {}, scenes)
    if not run.complete:
        raise RuntimeError(f"{driver.title}: {clients.broken(run)}")
    tokens = [node.tokens(run.readings[number], "o200k_base")
              for number in range(len(results))]
    cut = [CUT.search("".join(run.readings[number])) is not None for number in range(len(results))]
    return tokens, cut


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("costs")
    parser.add_argument("results")
    parser.add_argument("--only", help="names of clients, separated by commas")
    options = parser.parse_args()
    with open(options.costs, encoding="utf-8") as file:
        costs = json.load(file)
    tasks = list(next(server["tasks"] for server in costs
                      if (server["server"], server["provider"]) == OURS))
    others = {task: best(costs, task) for task in tasks}
    node = npm_partners.Node()
    print("| client | " + " | ".join(tasks) + " | all |")
    print("|---|" + "---:|" * (len(tasks) + 1))
    print("| best other server | "
          + " | ".join(others[task][0].split(",")[0] for task in tasks) + " | |")
    for driver in drivers.DRIVERS:
        if options.only and driver.name not in options.only.split(","):
            continue
        rows = []
        for servers in ({task: OURS for task in tasks}, others):
            parts = [results_of(options.results, servers[task], task) for task in tasks]
            tokens, cut = replayed(driver, sum(parts, []), node)
            row, at = [], 0
            for part in parts:
                row.append((sum(tokens[at:at + len(part)]), any(cut[at:at + len(part)])))
                at += len(part)
            rows.append(row)
        cells = [" / ".join(f"{count:,}" + ("*" if is_cut else "") for count, is_cut in pair)
                 for pair in zip(*rows)]
        whole = " / ".join(f"{sum(count for count, _ in row):,}" for row in rows)
        print(f"| {driver.title} | " + " | ".join(cells) + f" | {whole} |", flush=True)
    interop.stop_all()


if __name__ == "__main__":
    main()
