"""The benches of these sources and of another revision, run in turn on one machine.

    python3 benches/against.py REVISION [--rounds 7] [--limit 5]

Checks REVISION out into a temporary worktree of git, builds the benches `speed` and `handle` of both
(the first time with all they depend on, below `target/against`), and runs them in turn, in each round in
the other order. Times are medians, their ratios medians of the ratios within a round. Where valgrind is installed,
instructions are counted, too: they do not drift, and decide. Exits with 1 where a scenario takes more
than `--limit` percent more than it did.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "target"
SCENARIOS = ("r1", "standard")
# A row of a bench: its name, what it takes, its reference, their ratio, and what else it says.
ROW = re.compile(r"^ *(\S.*?) +([\d.]+)(?: ns)? +([\d.]+)(?: ns)? +([\d.]+)(?: .*)?$", re.M)


def main():
    arguments = argparse.ArgumentParser(description="These sources against another revision.")
    arguments.add_argument("revision", help="what git calls it: a commit, a branch, a tag")
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--limit", type=float, default=5.0, metavar="PERCENT")
    asked = arguments.parse_args()
    commit = git("rev-parse", "--verify", "--quiet", f"{asked.revision}^{{commit}}")
    if not commit:
        arguments.error(f"git knows no revision {asked.revision}")
    # Always in one place: what was built of dependencies serves again. Not among what is built of these
    # sources: the programs of both have the same names.
    tree, built = TARGET / "against" / "tree", TARGET / "against" / "built"
    git("worktree", "remove", "--force", str(tree))
    git("worktree", "add", "--detach", "--quiet", str(tree), commit)
    try:
        before, now = build(tree, built), build(ROOT, TARGET)
        ratios = timed(before, now, asked.rounds)
        ratios |= counted(before, now)
    finally:
        git("worktree", "remove", "--force", str(tree))
    most = 1 + asked.limit / 100
    slower = [name for name, ratio in ratios.items() if ratio > most]
    for name in slower:
        print(f"{name} takes {100 * (ratios[name] - 1):.1f} % more than at {asked.revision}")
    sys.exit(1 if slower else 0)


def git(*words):
    """What git says; nothing where it fails."""
    ran = subprocess.run(("git", "-C", ROOT) + words, capture_output=True, text=True)
    return ran.stdout.strip()


def build(tree, target):
    """The programs of both benches, built from a tree."""
    programs = {}
    for package, bench in (("windtunnel", "speed"), ("windtunnel-policy", "handle")):
        command = ["cargo", "bench", "-p", package, "--bench", bench, "--no-run", "--quiet",
                   "--message-format", "json", "--target-dir", str(target)]
        said = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, text=True, check=True).stdout
        built = (json.loads(line) for line in said.splitlines())
        programs[bench] = next(
            message["executable"] for message in built
            if message.get("executable") and message["target"]["name"] == bench
        )
    return programs


def timed(before, now, rounds):
    """Runs both in turn, and prints how long they take; the ratios by row."""
    times = {}
    for number in range(rounds):
        sides = [("before", before), ("now", now)]
        for side, programs in sides if number % 2 == 0 else reversed(sides):
            for row, ns in rows(programs):
                times.setdefault(row, {"before": [], "now": []})[side].append(ns)
    print(f"{'time':<32} {'before':>10} {'now':>10} {'ratio':>8}   of {rounds} rounds")
    ratios = {}
    for row, sides in times.items():
        if not all(sides.values()):
            print(f"{row:<32} is in one of them only")
            continue
        pairs = [now / before for before, now in zip(sides["before"], sides["now"])]
        ratios[row] = statistics.median(pairs)
        medians = [statistics.median(sides[side]) for side in ("before", "now")]
        print(f"{row:<32} {medians[0]:>7.1f} ns {medians[1]:>7.1f} ns {ratios[row]:>8.3f}   "
              f"{min(pairs):.3f} to {max(pairs):.3f}")
    return ratios


def rows(programs):
    """The rows of all benches, as name and nanoseconds."""
    said = output([programs["speed"], *SCENARIOS]) + output([programs["handle"]])
    # Tables are in Markdown, or in columns.
    return [(row[0].lower(), float(row[1])) for row in ROW.findall(said.replace("|", " "))]


def counted(before, now):
    """Prints the instructions of the run alone, a request; the ratios, by the names of the rows."""
    if not shutil.which("valgrind"):
        print("valgrind is not installed: instructions are not counted")
        return {}
    print(f"\n{'instructions a request':<32} {'before':>10} {'now':>10} {'ratio':>8}")
    ratios = {}
    for scenario in SCENARIOS:
        counts = [instructions(side["speed"], scenario) for side in (before, now)]
        if None in counts:
            print(f"{scenario:<32} is not counted by both")
            continue
        ratios[scenario] = counts[1] / counts[0]
        print(f"{scenario:<32} {counts[0]:>10,.0f} {counts[1]:>10,.0f} {counts[1] / counts[0]:>8.3f}")
    return ratios


def instructions(program, scenario):
    command = ["valgrind", "--tool=callgrind", "--toggle-collect=*counted*",
               "--callgrind-out-file=/dev/null", program, f"{scenario}-once"]
    said = output(command)
    requests = re.search(r"(\d+) requests", said)
    # A revision whose bench has no such run.
    if requests is None:
        return None
    return int(re.search(r"Collected : (\d+)", said)[1]) / int(requests[1])


def output(command):
    """What a program prints, where it ends well."""
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {ran.returncode}:\n{ran.stdout}")
    return ran.stdout


if __name__ == "__main__":
    main()
