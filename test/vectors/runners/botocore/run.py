"""Answers the vectors with botocore: run.py FOLDER, where FOLDER contains the vectors. README.md describes the output."""
import json, math, pathlib, sys, time, types
from unittest import mock

import botocore
import botocore.session
from botocore import exceptions
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.model import OperationModel, ServiceModel
from botocore.retries import adaptive, bucket, quota, standard

# The name among the sources of each set that botocore can answer.
SOURCES = {'aws-standard-2026': 'botocore-standard-2026', 'aws-adaptive-2026': 'botocore-adaptive-2026'}
FAILURES = {
    'reset': exceptions.ConnectionClosedError, 'close': exceptions.ConnectionClosedError, 'closed': exceptions.ConnectionClosedError,
    'refused': exceptions.EndpointConnectionError, 'connect-timeout': exceptions.ConnectTimeoutError,
    'read-timeout': exceptions.ReadTimeoutError, 'hang': exceptions.ReadTimeoutError, 'proxy-refused': exceptions.ProxyConnectionError,
    'untrusted-certificate': exceptions.SSLError, 'client-error': exceptions.HTTPClientError, 'broken-stream': exceptions.ResponseStreamingError,
}
ERRORS = {  # by protocol, with a code and the number of the response
    'json': '{"__type":"com.amazonaws.service#%s","message":"scripted response %d"}',
    'query': '<ErrorResponse><Error><Code>%s</Code><Message>scripted response %d</Message></Error></ErrorResponse>',
    'rest-xml': '<Error><Code>%s</Code><Message>scripted response %d</Message></Error>',
}
SUCCESSES = {'json': '{}', 'query': '<GetCallerIdentityResponse><GetCallerIdentityResult/></GetCallerIdentityResponse>', 'rest-xml': ''}
ARGUMENTS = {'GetObject': {'Bucket': 'bucket', 'Key': 'key'}, 'ReceiveMessage': {'QueueUrl': 'https://sqs.us-east-1.amazonaws.com/1/q'}}

class Inexpressible(Exception):
    """botocore has no equivalent, or this runner does not replace it."""

def failure(name):
    if name not in FAILURES:
        raise Inexpressible
    return FAILURES[name](**dict.fromkeys(('endpoint_url', 'proxy_url', 'error'), 'x'))

detector = lambda: standard.ThrottlingErrorDetector(standard.RetryEventAdapter())

def context(given, attempt=1):
    """The context of a failed attempt, as botocore's retry handler makes it."""
    if given.keys() & {'modeled', 'wrapped', 'message', 'rule'}:
        raise Inexpressible
    service = 'dynamodb-streams' if given['service'] == 'dynamodbstreams' else given['service']
    operation = OperationModel({'name': 'Op'}, ServiceModel({'metadata': {'serviceId': service}, 'operations': {'Op': {}}}, service), 'Op')
    if 'failure' in given:
        return standard.RetryContext(attempt, operation, caught_exception=failure(given['failure']))
    parsed = {'Error': {'Code': given['code']}} if 'code' in given else {}
    return standard.RetryContext(attempt, operation, parsed, AWSResponse('u', given['status'], given.get('headers', {}), None))

def hint(given):
    service = context(given).operation_model.service_model.service_name
    backoff = standard.ExponentialBackoff(random=lambda: given['random'], service_name=service, throttling_detector=detector())
    return {'wait_ms': 1000 * backoff.delay_amount(context(given, given['attempt']))}

def delay(given):
    return hint(given | ({'status': 400, 'code': 'Throttling'} if given['class'] == 'throttled' else {'status': 500}))

def classify(given):
    c = context(given)
    if not standard.StandardRetryConditions(max_attempts=2).is_retryable(c):
        return {'class': 'permanent'}
    return {'class': 'throttled' if detector().is_throttling_error_from_context(c) else 'transient'}

def quotas(given):
    tokens, after, call = quota.RetryQuota(given['capacity']), [], {}
    tokens._available_capacity = given['tokens']
    checker = standard.RetryQuotaChecker(tokens, detector())
    kinds = {'transient': {'status': 500}, 'throttled': {'status': 400, 'code': 'Throttling'}, 'timeout': {'failure': 'read-timeout'}}
    for event in given['events']:
        granted = {}
        if 'retry' in event:
            c = context({'service': 'sts', **kinds[event['retry']]})
            c.request_context = call
            granted = {'granted': bool(checker.acquire_retry_quota(c))}
        else:
            checker.release_retry_quota(call, types.SimpleNamespace(status_code=200 if event['end'] == 'success' else 500))
            call = {}
        after.append({**granted, 'tokens': tokens.available_capacity})
    return {'after': after}

def limiter(given):
    now, waits, rates, hooks = [given['start_s']], [], [], {}
    client, clock = mock.Mock(), types.SimpleNamespace(current_time=lambda: now[0])
    def wait(seconds):
        waits[-1] += 1000 * seconds
        now[0] += math.ceil(seconds * 1e6) / 1e6
    client.meta.events.register = hooks.__setitem__
    with mock.patch.object(bucket, 'Clock', lambda: clock):
        limit = adaptive.register_retry_handler(client)
    limit._token_bucket._new_fill_rate_condition = mock.MagicMock(wait=wait)
    for event in given['events']:
        now[0] += event['after_s']
        if event['event'] == 'send':
            waits.append(0)
            hooks['before-send'](request=None)
            continue
        parsed = {'Error': {'Code': 'Throttling'}} if event['event'] == 'throttled' else {}
        hooks['needs-retry'](response=(AWSResponse('u', 400 if parsed else 200, {}, None), parsed), attempts=1, caught_exception=None,
                             request_dict={'context': {}}, operation=None)
        rates.append(limit._token_bucket.max_rate if limit._enabled else None)
    return {'waits_ms': waits, 'rates': rates}

def trace(given, session=botocore.session.Session()):
    if given.get('tls'):
        raise Inexpressible
    numbers, waits, made, quotas_, rest = iter(given.get('random', ())), [], standard.ExponentialBackoff, [], given['random_then']
    backoff = lambda **more: made(random=lambda: next(numbers, rest), **more)
    retry_quota = lambda tokens=quota.RetryQuota: quotas_.append(tokens(given.get('quota', 500))) or quotas_[0]
    with mock.patch.object(standard, 'ExponentialBackoff', backoff), mock.patch.object(quota, 'RetryQuota', retry_quota), \
            mock.patch.object(standard.RetryHandler.__init__, '__defaults__', (None, waits.append)), mock.patch.object(time, 'sleep', waits.append):
        retries = {'mode': 'standard', **({'total_max_attempts': given['max_attempts']} if 'max_attempts' in given else {})}
        client = session.create_client(given['service'], 'us-east-1', aws_access_key_id='k', aws_secret_access_key='s', config=Config(retries=retries))
        quotas_[0]._max_capacity = 500
        return {'calls': [call(client, given['operation'], c['responses'], waits, quotas_[0]) for c in given['calls']]}

def call(client, operation, responses, waits, tokens):
    sent, text = [], None
    def send(**_):
        sent.append(responses[min(len(sent), len(responses) - 1)])
        r, protocol = sent[-1], client.meta.service_model.protocol
        if 'fault' in r:
            raise failure(r['fault'])
        body = SUCCESSES[protocol] if r['status'] < 300 else ERRORS[protocol] % (r['code'], len(sent)) if 'code' in r else ''
        raw = types.SimpleNamespace(stream=lambda *_, **__: iter([body.encode()]), read=lambda *_: body.encode())
        return AWSResponse('u', r['status'], r.get('headers', {}), raw)
    waits.clear()
    client.meta.events.register('before-send', send, 'vectors')
    try:
        getattr(client, botocore.xform_name(operation))(**ARGUMENTS.get(operation, {}))
    except Inexpressible:
        raise
    except Exception as e:  # not only botocore's: its parsers raise others
        text = str(e)
    client.meta.events.unregister('before-send', unique_id='vectors')
    reported = {'reported': int(text.rsplit(' ', 1)[1])} if 'scripted response ' in (text or '') else {}
    return {'attempts': len(sent), 'waits_ms': [1000 * w for w in waits], 'ok': text is None, **reported, 'tokens': tokens.available_capacity}

KINDS = {'delay': delay, 'hint': hint, 'classify': classify, 'quota': quotas, 'limiter': limiter, 'trace': trace}

def main(folder):
    print(json.dumps({'implementation': 'botocore ' + botocore.__version__}))
    for file in pathlib.Path(folder).glob('*/*.json'):
        vectors = json.loads(file.read_text())
        for case in vectors['cases'] if vectors['set'] in SOURCES else ():
            try:
                answer = KINDS[vectors['kind']](case['given'])
            except Inexpressible:
                continue
            print(json.dumps({'set': vectors['kind'] + '/' + vectors['set'], 'source': SOURCES[vectors['set']], 'id': case['id'], 'answer': answer}))
main(sys.argv[1])
