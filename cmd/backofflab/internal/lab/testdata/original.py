"""The contention model as the program behind "Exponential Backoff And Jitter" has
it (AWS Architecture Blog, 2015): four events for each call, in one binary heap.

Written anew for Python 3, to measure speed against and to compare results with.
Usage: original.py TRIALS CLIENTS... prints a line for each strategy and number of
clients: strategy, clients, calls of all trials, seconds of CPU.
"""

import heapq
import random
import sys
import time

BASE, CAP = 5, 2000  # milliseconds
MEAN, SD = 10, 2


def latency():
    return abs(random.normalvariate(MEAN, SD))


def ceiling(attempt):
    return min(CAP, BASE * 2**attempt)


class Row:
    """The server: one row with a version."""

    def __init__(self):
        self.version = 0
        self.calls = 0

    def read(self, now, client, _):
        return now + latency(), client.has_read, client, self.version

    def write(self, now, client, version):
        self.calls += 1
        won = version == self.version
        if won:
            self.version += 1
        return now + latency(), client.has_written, client, won


class Client:
    def __init__(self, row, strategy):
        self.row = row
        self.wait = strategy
        self.attempt = 0
        self.last = BASE

    def start(self):
        return latency(), self.row.read, self, None

    def has_read(self, now, _, version):
        return now + latency(), self.row.write, self, version

    def has_written(self, now, _, won):
        if won:
            return None
        self.attempt += 1
        return now + latency() + self.wait(self), self.row.read, self, None


def decorrelated(client):
    client.last = min(CAP, random.uniform(BASE, client.last * 3))
    return client.last


def equal(client):
    half = ceiling(client.attempt) / 2
    return half + random.uniform(0, half)


STRATEGIES = {
    "none": lambda client: 0,
    "exponential": lambda client: ceiling(client.attempt),
    "equal": equal,
    "full": lambda client: random.uniform(0, ceiling(client.attempt)),
    "decorrelated": decorrelated,
}


def trial(clients, strategy):
    row = Row()
    queue = []
    for _ in range(clients):
        heapq.heappush(queue, Client(row, strategy).start())
    while queue:
        now, handler, client, what = heapq.heappop(queue)
        message = handler(now, client, what)
        if message is not None:
            heapq.heappush(queue, message)
    return row.calls


def main():
    trials = int(sys.argv[1])
    for name, strategy in STRATEGIES.items():
        for clients in map(int, sys.argv[2:]):
            begin = time.process_time()
            calls = sum(trial(clients, strategy) for _ in range(trials))
            print(name, clients, calls, f"{time.process_time() - begin:.6f}")


main()
