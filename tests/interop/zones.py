"""Interop part: Windows' names of time zones, as others have copied them.

    zones.py BINARY

tests/core/zones.rs holds every name of tests/fixtures/windows-zones.tsv against
our lookup. Here that file is compared with the table of the package tzlocal,
which is made from CLDR's windowsZones.xml. The binary is not asked.
"""

import os

import interop
from tzlocal.windows_tz import win_tz

checks = interop.Checks("zones")

FIXTURE = os.path.join(interop.HERE, "..", "fixtures", "windows-zones.tsv")

with open(FIXTURE, encoding="utf-8") as lines:
    ours = dict(line.rstrip("\n").split("\t") for line in lines)

checks.that("tzlocal knows at least 140 names", len(win_tz) >= 140, len(win_tz))
checks.same("names and zones are CLDR's", ours, dict(win_tz))
checks.close()
