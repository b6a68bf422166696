# SPDX-License-Identifier: MIT
"""The folder of captured data. Tests in other files read it, and are left out
if PERFBLOCK_REAL_DATA is not set; CTest reports that by this test, which is
then skipped."""

import os
import unittest

from program import needs_real_data, real


@needs_real_data
class CapturedData(unittest.TestCase):
    """What PERFBLOCK_REAL_DATA names."""

    def test_folders(self):
        """The folder has V1 blocks of Windows and of Samba, and logs."""
        for name in ("v1", "v1-samba", "blg"):
            self.assertTrue(os.listdir(real(name)), name)


if __name__ == "__main__":
    unittest.main()
