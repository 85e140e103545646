"""Runs the cases from standard input with botocore, as described in conformance/PROTOCOL.md."""

import json
import sys

from player import Player


def main():
    given = json.load(sys.stdin)
    json.dump(Player(given['endpoint'], mode_of(given['preset'])).play_all(given['cases']), sys.stdout)


def mode_of(preset):
    return next(mode for mode in ('legacy', 'standard', 'adaptive') if mode in preset.split('-'))


if __name__ == '__main__':
    main()
