"""R1 on other simulators, each beside windtunnel in one run.

    python3 benches/peers/run.py [--rounds 3]

Installs SimPy and happysim into virtual environments and builds NeXosim's program, all under
`target/peers`. happysim needs Python 3.13: the newest `python3.x` on the path is taken. What cannot be
installed is named and skipped. Every round times `cargo bench --bench speed -- r1` and then the
peer, and the table gives medians; ratios are of times of one round.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = ROOT / "target" / "peers"
PYTHON_REQUESTS = "20000"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=3)
    rounds = arguments.parse_args().rounds
    peers = {name: command for name, command in (
        ("NeXosim 1.0", nexosim()),
        ("SimPy 4.1.2", in_python("simpy==4.1.2", "r1_simpy.py")),
        ("happysim 0.2.5", in_python("happysim==0.2.5", "r1_happysim.py")),
    ) if command}
    print(f"{'engine':<16} {'ns/request':>12} {'ours':>8} {'ratio':>8} {'success':>9} {'attempts':>9} {'latency s':>10}")
    for name, command in peers.items():
        pairs = [(ours(), output(command + [str(seed)])) for seed in range(1, rounds + 1)]
        median = lambda of: statistics.median(of(ours, theirs) for ours, theirs in pairs)
        print(f"{name:<16} {median(lambda _, t: t['ns_per_request']):>12,.0f} {median(lambda o, _: o):>8,.0f} "
              f"{median(lambda o, t: t['ns_per_request'] / o):>8.1f} {median(lambda _, t: t['success']):>9.4f} "
              f"{median(lambda _, t: t['attempts']):>9.4f} {median(lambda _, t: t['latency']):>10.4f}", flush=True)


def ours():
    done = subprocess.run(["cargo", "bench", "--quiet", "--bench", "speed", "--", "r1"], cwd=ROOT,
                          capture_output=True, text=True, check=True)
    return float(re.search(r"^\| r1 \| (\d+)", done.stdout, re.MULTILINE)[1])


def output(command):
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def nexosim():
    done = subprocess.run(["cargo", "build", "--release", "--quiet", "--manifest-path", HERE / "nexosim" / "Cargo.toml",
                           "--target-dir", TARGET / "nexosim"])
    if done.returncode:
        print("skipped: NeXosim does not build here", file=sys.stderr)
        return None
    return [str(TARGET / "nexosim" / "release" / "r1-nexosim"), "200000"]


def in_python(package, program):
    """The command that runs the program with the package, with the newest Python that takes it."""
    for version in ("3.14", "3.13", "3.12", "3.11", "3"):
        python = shutil.which(f"python{version}")
        folder = TARGET / f"{package}-{version}"
        if not python or subprocess.run([python, "-m", "venv", folder], capture_output=True).returncode:
            continue
        own = folder / "bin" / "python"
        if subprocess.run([own, "-m", "pip", "install", "--quiet", package], capture_output=True).returncode == 0:
            return [str(own), str(HERE / program), PYTHON_REQUESTS]
    print(f"skipped: no Python here takes {package}", file=sys.stderr)
    return None


if __name__ == "__main__":
    main()
