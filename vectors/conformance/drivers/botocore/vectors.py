"""Writes the vectors for the 2026 standard mode: the installed botocore's results for the inputs of older vectors.

python vectors.py FOLDER, where FOLDER is awspreset/testdata/vectors.
"""

import json
import pathlib
import sys
import types
import zlib

import botocore
from botocore import exceptions
from botocore.awsrequest import AWSResponse
from botocore.model import OperationModel, ServiceModel
from botocore.retries import quota, standard

STATUSES = {'500': 500, 'throttle': 400}
EXCEPTIONS = {
    'read_timeout': exceptions.ReadTimeoutError(endpoint_url='u'),
    'connect_timeout': exceptions.ConnectTimeoutError(endpoint_url='u'),
    'conn_error': exceptions.EndpointConnectionError(endpoint_url='u', error='e'),
}


def main(folder):
    folder = pathlib.Path(folder)
    write(folder, 'standard-2026.json', 'delay', 'ExponentialBackoff', delays(read(folder, 'botocore-standard-2026.json')))
    write(folder, 'standard-2026-classification.json', 'classification', 'StandardRetryConditions, ThrottlingErrorDetector',
          classes(read(folder, 'botocore-standard-classification.json')))
    write(folder, 'standard-2026-quota.json', 'quota-trace', 'RetryQuotaChecker', quotas(read(folder, 'botocore-standard-2026-quota.json')))


def read(folder, name):
    return json.loads((folder / name).read_text())['cases']


def write(folder, name, kind, what, cases):
    head = {
        'schema': 'aws-retry-vectors/1',
        'kind': kind,
        'source': {'sdk': 'botocore', 'version': botocore.__version__, 'repo': 'boto/botocore',
                   'file': 'botocore/retries/standard.py ' + what, 'how': 'executed by conformance/drivers/botocore/vectors.py'},
        'count': len(cases),
    }
    lines = ',\n'.join(json.dumps(case) for case in cases)
    (folder / name).write_text(json.dumps(head)[:-1] + ', "cases": [\n' + lines + '\n]}\n')


def detector():
    return standard.ThrottlingErrorDetector(standard.RetryEventAdapter())


def context(attempt=1, service='sts', status=None, code=None, headers=None, body=b'', exception=None, shape=None):
    response = parsed = None
    if status is not None:
        response = AWSResponse('u', status, headers or {}, None)
        response._content = body
        parsed = {'Error': {'Code': code}} if code is not None else {}
    return standard.RetryContext(attempt, operation_of(service, shape), parsed, response, exception)


def operation_of(service, shape):
    shapes = {} if shape is None else {shape['name']: {'type': 'structure', 'members': {}, 'exception': True, **shape['metadata']}}
    model = {'metadata': {'endpointPrefix': service, 'serviceId': service}, 'operations': {}, 'shapes': shapes}
    operation = {'name': 'Op', 'http': {}, 'errors': [{'shape': name} for name in shapes]}
    return OperationModel(operation, ServiceModel(model, service), 'Op')


def delays(cases):
    made = []
    for case in cases:
        if 'max_backoff_s' in case and case['max_backoff_s'] is not None:
            limit = {'max_backoff': case['max_backoff_s']}
        else:
            limit = {}
        numbers = iter(case['random'])
        backoff = standard.ExponentialBackoff(
            random=lambda: next(numbers), service_name=case['service'], throttling_detector=detector(), **limit)
        headers = {'x-amz-retry-after': case['x_amz_retry_after']} if case.get('x_amz_retry_after') is not None else {}
        code = 'Throttling' if case['throttling'] else 'X'
        result = {k: v for k, v in case.items() if k not in ('delay_s', 'error')}
        try:
            result['delay_s'] = backoff.delay_amount(context(case['attempt'], case['service'], 400, code, headers))
        except OverflowError:
            result['error'] = 'OverflowError'
        made.append(result)
    return made


def classes(cases):
    made = []
    conditions = standard.StandardRetryConditions(max_attempts=1000)
    for case in cases + [{'service': 'sts', 'status': 429, 'code': 'NobodyKnowsThis'}, {'service': 'sqs', 'status': 429}]:
        result = {k: v for k, v in case.items() if k not in ('retryable', 'throttling', 'transient', 'timeout_cost')}
        c = context(service=case.get('service', 'sts'), status=case.get('status'), code=case.get('code'),
                    exception=exception(case.get('exception')), shape=case.get('modeled_shape'), **checksum(case.get('crc32')))
        result['retryable'] = bool(conditions.is_retryable(c))
        result['throttling'] = bool(detector().is_throttling_error_from_context(c))
        made.append(result)
    return made


def checksum(kind):
    body = b'{}'
    good = zlib.crc32(body)
    headers = {'good': {'x-amz-crc32': str(good)}, 'bad': {'x-amz-crc32': str(good + 1)}}
    return {'body': body, 'headers': headers.get(kind, {})}


def exception(name):
    if name is None:
        return None
    if name == 'ValueError':
        return ValueError()
    kind = getattr(exceptions, name)
    fields = dict.fromkeys(('endpoint_url', 'proxy_url', 'error', 'actual_bytes', 'expected_bytes',
                            'checksum_type', 'expected_checksum', 'actual_checksum'), 'x')
    return kind(**fields)


def quotas(cases):
    made = []
    for case in cases:
        bucket = quota.RetryQuota(case['initial_and_max'])
        checker = standard.RetryQuotaChecker(bucket, detector())
        steps, request_context = [], {}
        for step in case['steps']:
            result = {'op': step['op']}
            if step['op'] == 'acquire':
                error = result['error'] = step['error']
                c = context(status=STATUSES.get(error), code='Throttling' if error == 'throttle' else 'X', exception=EXCEPTIONS.get(error))
                c.request_context = request_context
                result['granted'] = bool(checker.acquire_retry_quota(c))
            else:
                result['http_status'] = step['http_status']
                checker.release_retry_quota(request_context, response_of(step['http_status']))
                request_context = {}
            result['available'] = bucket.available_capacity
            steps.append(result)
        made.append({'name': case['name'], 'initial_and_max': case['initial_and_max'], 'steps': steps})
    return made


def response_of(status):
    return None if status is None else types.SimpleNamespace(status_code=status)


if __name__ == '__main__':
    main(sys.argv[1])
