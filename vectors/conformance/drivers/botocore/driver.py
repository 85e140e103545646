"""Runs the cases from standard input with botocore, as described in conformance/PROTOCOL.md."""

import json
import os
import sys


def main():
    given = json.load(sys.stdin)
    if given['preset'].endswith('-2026-preview'):
        os.environ['AWS_NEW_RETRIES_2026'] = 'true'
    from player import Player  # imports botocore, which reads the variable on import

    json.dump(Player(given['endpoint'], mode_of(given['preset'])).play_all(given['cases']), sys.stdout)


def mode_of(preset):
    return next(mode for mode in ('legacy', 'standard', 'adaptive') if mode in preset.split('-'))


if __name__ == '__main__':
    main()
