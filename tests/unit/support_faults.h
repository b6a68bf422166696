/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_FAULTS_H
#define PFB_TEST_SUPPORT_FAULTS_H

#include "perfblock/write.h"

/* Returns the fault's name in lower case ("result_size_zero"); "" for PFB_FAULT_NONE. */
const char *fault_name(pfb_fault fault);

/* Returns the code with which a reader in the default mode rejects this fault; PFB_OK if it tolerates the fault. */
pfb_code fault_code(pfb_fault fault);

#endif
