"""Runs the runners and compares their results with the table in README.md: results.py [-update] SDKS.

SDKS is the folder into which `go run . -cache SDKS` in conformance installed the SDKs. The columns of runners whose SDK
or toolchain is missing stay as they are. The exit status is 1 if a case failed or the table differs. With -update, the
table is rewritten.
"""

import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RUNNERS = {  # by column: the SDK's folder, and the command that runs in it
    'botocore': ('botocore-1.44.5', ['bin/python', '-B', HERE / 'runners/botocore/run.py', HERE]),
    'JavaScript v3': ('js-v3-2026', ['node', HERE / 'runners/js/run.js', HERE]),
    'Java 2.x': ('java-v2', ['java', '-cp', 'lib/*', HERE / 'runners/java/Run.java', HERE]),
}
BEGIN, END = '<!-- results -->\n', '<!-- end -->\n'


def results(sdks):
    """Yields the answers of each runner that can run."""
    for column, (folder, command) in RUNNERS.items():
        folder = pathlib.Path(sdks).resolve() / folder
        program = shutil.which(command[0]) or shutil.which(str(folder / command[0]))
        if not folder.exists() or not program:
            print('skipped', column)
            continue
        run = subprocess.run([program, *map(str, command[1:])], cwd=folder, env={'HOME': os.devnull}, stdout=subprocess.PIPE, timeout=600, check=True)
        first, *answers = map(json.loads, run.stdout.splitlines())
        yield column, first['implementation'], {(a['set'], a['id']): a for a in answers}


def counts(name, cases, answers):
    """Returns how many cases passed, failed and were not answered. Prints the failed cases."""
    passed = failed = 0
    for case in cases:
        got = answers.get((name, case['id']))
        want = got and [{k: v for k, v in a.items() if k != 'from'} for a in case['answers'] if got['source'] in a['from']]
        if not want:
            continue
        right = same(got['answer'], want[0])
        passed, failed = passed + right, failed + (not right)
        if not right:
            print(name, case['id'], 'is', got['answer'], 'not', want[0])
    return passed, failed, len(cases) - passed - failed


def same(got, want):
    """Numbers may differ by 0.001, or in their last digits."""
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(same(got[k], want[k]) for k in want)
    if isinstance(want, list):
        return len(got) == len(want) and all(map(same, got, want))
    if isinstance(want, (int, float)) and isinstance(got, (int, float)):
        return math.isclose(got, want, rel_tol=1e-12, abs_tol=1e-3)
    return got == want


def main(sdks, update=False):
    text = (HERE / 'README.md').read_text()
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    rows = [[c.strip() for c in line.strip('|').split('|')] for line in old.splitlines()[2:]]
    cells = {(column, row[0].strip('`')): row[3 + i] for row in rows for i, column in enumerate(RUNNERS)}
    sets = {f'{file.parent.name}/{file.stem}': json.loads(file.read_text())['cases'] for file in sorted(HERE.glob('*/*.json'))}
    failures = 0
    for column, implementation, answers in results(sdks):
        of_column = {name: counts(name, cases, answers) for name, cases in sets.items()}
        cells.update({(column, name): ' / '.join(map(str, c)) if c[0] + c[1] else '–' for name, c in of_column.items()})
        print(column, implementation, sum(c[0] for c in of_column.values()), 'passed', sum(c[1] for c in of_column.values()), 'failed')
        failures += sum(c[1] for c in of_column.values())
    lines = ['| ' + ' | '.join(['set', 'cases', 'with several answers', *RUNNERS]) + ' |', '|---' * (3 + len(RUNNERS)) + '|']
    for name, cases in sets.items():
        row = [f'`{name}`', len(cases), sum(len(c['answers']) > 1 for c in cases), *(cells.get((column, name), '–') for column in RUNNERS)]
        lines.append('| ' + ' | '.join(map(str, row)) + ' |')
    new = head + BEGIN + '\n'.join(lines) + '\n' + END + tail
    if update:
        (HERE / 'README.md').write_text(new)
    elif new != text:
        print('the table in README.md differs; -update rewrites it')
        failures += 1
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[-1], sys.argv[1] == '-update'))
