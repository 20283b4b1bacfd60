"""R1 in figures, its luck, and the line that every peer prints."""

import json
import math
import random
import sys
import time

REQUESTS = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1

RATE = 200.0  # requests a second
SLOTS = 64
QUEUE = 64
BAD = 0.05  # share of the answers
BASE, CAP = 0.25, 4.0  # backoff, seconds
DEADLINE = 30.0
PLAN = (0, 0, 1, 2)

_luck = random.Random(SEED)


def gap():
    return _luck.expovariate(RATE)


def service():
    return _luck.lognormvariate(math.log(0.8), 0.6)


def bad():
    return _luck.random() < BAD


def backoff(waits):
    """Full jitter."""
    return _luck.random() * min(CAP, BASE * 2**waits)


class Counts:
    answered = attempts = 0
    latency = 0.0


def measure(run, counts):
    start = time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    print(json.dumps({
        "ns_per_request": 1e9 * seconds / REQUESTS,
        "success": counts.answered / REQUESTS,
        "attempts": counts.attempts / REQUESTS,
        "latency": counts.latency / counts.answered,
    }))
