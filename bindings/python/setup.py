# SPDX-License-Identifier: MIT
"""Builds the package of the two files that scripts/amalgamate writes. pyproject.toml has its name and version."""

import setuptools

setuptools.setup(cffi_modules=["build_binding.py:binding"])
