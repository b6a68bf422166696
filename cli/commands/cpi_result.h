/* SPDX-License-Identifier: MIT */
#ifndef CLI_CPI_RESULT_H
#define CLI_CPI_RESULT_H

#include "os/system.h"
#include "output/output.h"
#include "perfblock/cpi_facility.h"

/* The result of an interval of the CPI facility. */
typedef struct cpi_result {
    pfb_cpi_details details;
    void *handle;         /* handle of the instance, for data that the details lack */
    system_ending ending; /* how the measured command ended */
} cpi_result;

/* As text: the line of the system, and the table of it and its CPUs. As JSON: the record "cpi", and "cpu" for each. */
void cpi_result_print(output *out, const cpi_result *result);

#endif
