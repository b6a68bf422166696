/* SPDX-License-Identifier: MIT */
/* A program without tests. */
#include <criterion/criterion.h>

TestSuite(empty, .init = NULL);
