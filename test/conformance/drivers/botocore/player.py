"""Runs cases with clients of botocore."""

import contextlib
import importlib.metadata
import json
import os
import tempfile
import urllib.request

import botocore
import botocore.session
from botocore.config import Config

from hooks import Script


class Player:
    """Runs cases in one retry mode. They share a session, because loading the services' models is slow."""

    def __init__(self, endpoint, mode):
        self.endpoint = endpoint
        self.mode = mode
        self.script = Script()
        self.script.install()
        self.session = botocore.session.Session()

    def play_all(self, cases):
        played = [{'name': case['name'], 'calls': self.play(case)} for case in cases]
        modules = sorted(f'{d.name} {d.version}' for d in importlib.metadata.distributions())
        return {'sdk': 'botocore ' + botocore.__version__, 'modules': modules, 'unit': 's', 'cases': played}

    def play(self, case):
        self.script.begin(case)
        with contextlib.closing(self.client(case)) as client:
            if 'quota' in case:
                self.script.leave(case['quota'])
            return [self.observe(client, case['operation'], call) for call in case['calls']]

    def client(self, case):
        if 'setting' in case:
            return self.set_client(case)
        retries = {'mode': self.mode}
        if 'max_attempts' in case:
            retries['total_max_attempts'] = case['max_attempts']
        return self.session.create_client(
            case['service'],
            region_name='us-east-1',
            endpoint_url=case.get('endpoint', self.endpoint),
            aws_access_key_id='key',
            aws_secret_access_key='secret',
            config=Config(retries=retries, connect_timeout=1, read_timeout=1, s3={'addressing_style': 'path'}),
        )

    def set_client(self, case):
        """A client whose only setting, besides the mode, is the case's: code, a variable, or a line of the file."""
        setting = case['setting']
        config = Config(retries={'mode': self.mode})
        session = self.session
        if setting.startswith('Config('):
            given = eval(setting, {'Config': Config})
            config = Config(retries={'mode': self.mode, **(given.retries or {})}, **{
                k: v for k, v in given._user_provided_options.items() if k != 'retries'})
        elif setting.startswith('AWS_'):
            name, _, value = setting.partition('=')
            os.environ[name] = value
            session = botocore.session.Session()
        else:
            with tempfile.NamedTemporaryFile('w', delete=False) as file:
                file.write('[default]\n' + setting + '\n')
            os.environ['AWS_CONFIG_FILE'] = file.name
            session = botocore.session.Session()
        client = session.create_client(
            case['service'], region_name='us-east-1', endpoint_url=self.endpoint,
            aws_access_key_id='key', aws_secret_access_key='secret', config=config)
        for name in ('AWS_MAX_ATTEMPTS', 'AWS_CONFIG_FILE'):
            os.environ.pop(name, None)
        return client

    def observe(self, client, operation, call):
        self.script.delays.clear()
        self.control('PUT', json.dumps(call).encode())
        error = self.call(client, operation)
        return {
            'attempts': json.loads(self.control('GET'))['requests'],
            'delays': list(self.script.delays),
            'ok': not error,
            'error': error,
            'quota': self.script.left(),
        }

    def call(self, client, operation):
        """Returns the text of the error, or ''."""
        try:
            match operation:
                case 'GetObject':
                    client.get_object(Bucket='bucket', Key='key')['Body'].read()
                case 'ReceiveMessage':
                    client.receive_message(QueueUrl=self.endpoint + '/1/q')
                case _:
                    getattr(client, botocore.xform_name(operation))()
        except Exception as e:  # not only botocore.exceptions: parsers raise others
            return f'{type(e).__name__}: {e}'
        return ''

    def control(self, method, body=None):
        request = urllib.request.Request(self.endpoint + '/__script', data=body, method=method)
        with urllib.request.urlopen(request) as response:
            return response.read()
