"""R1 in SimPy: a process for each request, a resource for each target."""

import simpy
from workload import (DEADLINE, PLAN, QUEUE, REQUESTS, SLOTS, Counts, backoff, bad, gap, measure, service)

env = simpy.Environment()
targets = [simpy.Resource(env, capacity=SLOTS) for _ in range(3)]
counts = Counts()


def traffic():
    for _ in range(REQUESTS):
        yield env.timeout(gap())
        env.process(request(env.now))


def request(came):
    last, waits = None, 0
    for name in PLAN:
        if name == last:
            wait = backoff(waits)
            waits += 1
            if env.now + wait >= came + DEADLINE:
                return
            yield env.timeout(wait)
        last = name
        counts.attempts += 1
        answer = yield from attempt(targets[name], came + DEADLINE)
        if answer == "late":
            return
        if answer == "good":
            counts.answered += 1
            counts.latency += env.now - came
            return


def attempt(target, until):
    if target.count == SLOTS and len(target.queue) == QUEUE:
        return "full"
    with target.request() as slot:
        if not slot.triggered:
            yield slot | env.timeout(until - env.now)
            if not slot.triggered:
                return "late"
        takes = service()
        yield env.timeout(min(takes, until - env.now))
        if env.now >= until:
            return "late"
    return "bad" if bad() else "good"


env.process(traffic())
measure(env.run, counts)
