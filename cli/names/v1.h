/* SPDX-License-Identifier: MIT */
#ifndef CLI_V1_H
#define CLI_V1_H

#include "output/name.h"
#include "perfblock/sample.h"
#include "perfblock/stream.h"

/* Reports the errors of a V1 block, the latest record of a stream: that of its header, the first one in each object,
 * and the one that ended the list of objects early. */
void v1_report_errors(const char *file, const pfb_stream *stream, const pfb_record *record,
                      const pfb_read_options *options);

#endif
