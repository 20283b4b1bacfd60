"""R1 in happysim: a generator for each request, a resource for each target.

A resource cannot be left while one waits for it. With R1's deadline of 30 s nobody waits that long: 64 in
the queue are served in a second. So the deadline is looked at when a slot has been got.
"""

from happysimulator import Entity, Event, Instant, Resource, Simulation
from workload import (DEADLINE, PLAN, QUEUE, REQUESTS, SLOTS, Counts, backoff, bad, gap, measure, service)

counts = Counts()
targets = [Resource(name, capacity=SLOTS) for name in "ABC"]


class Gateway(Entity):
    def handle_event(self, event):
        came = self.now.to_seconds()
        last, waits = None, 0
        for name in PLAN:
            if name == last:
                wait = backoff(waits)
                waits += 1
                if self.now.to_seconds() + wait >= came + DEADLINE:
                    return
                yield wait
            last = name
            counts.attempts += 1
            target = targets[name]
            slot = target.try_acquire()
            if slot is None:
                if target.waiters >= QUEUE:
                    continue
                slot = yield target.acquire()
            takes = service()
            in_time = self.now.to_seconds() + takes < came + DEADLINE
            if in_time:
                yield takes
            slot.release()
            if not in_time:
                return
            if not bad():
                counts.answered += 1
                counts.latency += self.now.to_seconds() - came
                return


class Traffic(Entity):
    def __init__(self, gateway):
        super().__init__("traffic")
        self.gateway = gateway

    def handle_event(self, event):
        for _ in range(REQUESTS):
            yield gap()
            yield 0.0, [Event(self.now, "request", self.gateway)]


gateway = Gateway("gateway")
traffic = Traffic(gateway)
simulation = Simulation(entities=[traffic, gateway, *targets])
simulation.schedule(Event(Instant.Epoch, "start", traffic))
measure(simulation.run, counts)
