package backoff
