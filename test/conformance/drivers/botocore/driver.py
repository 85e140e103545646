"""Runs the cases from standard input with botocore, as described in conformance/PROTOCOL.md."""

import json
import sys

from player import Player


def main():
    given = json.load(sys.stdin)
    json.dump(Player(given['endpoint'], given['mode'].split('-')[2]).play_all(given['cases']), sys.stdout)


if __name__ == '__main__':
    main()
