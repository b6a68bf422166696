# SPDX-License-Identifier: MIT
"""Runs the program perfblock to its end.

Under Wine about one start in a thousand fails before the program begins: with
an error status and without any output. The program itself never ends like
that, because it reports every error. In this case it is started again, at most
twice, so that a program that fails silently is still detected.
"""

import os
import subprocess

ON_WINDOWS = os.environ.get("PERFBLOCK_SYSTEM") == "Windows"
STARTS = 3 if ON_WINDOWS else 1


def finish(line, **options):
    """subprocess.run; streams that `options` do not contain are captured."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    for _ in range(STARTS):
        done = subprocess.run(line, check=False, **options)
        if done.returncode == 0 or done.stdout or done.stderr:
            break
    return done
