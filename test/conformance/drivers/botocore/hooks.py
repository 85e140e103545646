"""Replaces botocore's randomness, sleep and quota with those of a script."""

import functools
import inspect
import types

from botocore import endpoint, retryhandler
from botocore.retries import bucket, quota, standard


class Script:
    """The random numbers, recorded delays and quota of a case's client."""

    def __init__(self):
        self.numbers = iter(())
        self.then = 0.0
        self.delays = []
        self.quota = None

    def install(self):
        """Changes botocore's modules for all later clients."""
        retryhandler.random = types.SimpleNamespace(random=self.draw)
        standard.ExponentialBackoff = functools.partial(standard.ExponentialBackoff, random=self.draw)
        endpoint.time = types.SimpleNamespace(sleep=self.delays.append)
        if 'sleep' in inspect.signature(standard.RetryHandler).parameters:  # for long polls; 1.34.106 does not have it
            standard.RetryHandler = functools.partial(standard.RetryHandler, sleep=self.delays.append)
        quota.RetryQuota = functools.partial(self.keep, quota.RetryQuota)
        bucket.TokenBucket.acquire = lambda *args, **kwargs: True  # the adaptive mode's rate limiter

    def begin(self, case):
        """Sets the numbers of a case. The case's client, created later, sets self.quota if it has a quota."""
        self.numbers = iter(case.get('random', ()))
        self.then = case['random_then']
        self.quota = None

    def draw(self):
        return next(self.numbers, self.then)

    def keep(self, make_quota):
        self.quota = make_quota()
        return self.quota

    def leave(self, amount):
        """Sets the quota of the client, if it has one."""
        if self.quota:
            self.quota._available_capacity = amount

    def left(self):
        return self.quota.available_capacity if self.quota else None
