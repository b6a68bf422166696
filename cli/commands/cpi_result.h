/* SPDX-License-Identifier: MIT */
#ifndef CLI_CPI_RESULT_H
#define CLI_CPI_RESULT_H

#include "os/system.h"
#include "output/output.h"
#include "perfblock/cpi_facility.h"

/* What cpi run has measured. */
typedef struct cpi_result {
    pfb_cpi_details details;
    void *handle;         /* of the facility, for data that `details` lacks */
    system_ending ending; /* how the measured command ended */
} cpi_result;

/* Prints, as text, a line with the figures of the system and a table with those of the system and of each CPU; as JSON,
 * a record "cpi" for the system and a record "cpu" for each CPU. */
void cpi_result_print(output *out, const cpi_result *result);

#endif
