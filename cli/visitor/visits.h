/* SPDX-License-Identifier: MIT */
#ifndef CLI_VISITS_H
#define CLI_VISITS_H

#include "perfblock/lwp/cpuid.h"
#include "visitor/visitor.h"

/* The formats. Each function visits all of v->bytes. */

/* One V2 reply. Returns its total size, 0 after an error. */
size_t visit_v2(visitor *v);

/* One V1 block. Returns its total size, 0 if its header is invalid. */
size_t visit_v1(visitor *v);

void visit_names(visitor *v);        /* a V1 name table (visit_v1.c) */
void visit_lwp(visitor *v);          /* an LWP snapshot */
void visit_hooks(visitor *v);        /* a stream of CPI hooks (visit_cpi.c) */
void visit_snapshots(visitor *v);    /* a text of CPI snapshots */
void visit_registration(visitor *v); /* the reply to the request v->request (visit_metadata.c) */
void visit_strings(visitor *v);
void visit_identifiers(visitor *v);
void visit_instances(visitor *v);
void visit_guids(visitor *v);

/* Logs, which move the window of the input: binary, and text (visit_log.c, visit_pdh_text.c). */
void visit_log(visitor *v);
void visit_pdh_text(visitor *v);

/* Writes the set bits of EAX, EDX, or of a word of the control block by name; bits without a name by number. */
void lwp_write_bits(output *out, const char *key, uint32_t bits, const char *(*name_of)(unsigned bit));

/* Writes the four registers of CPUID leaf 8000001C as "EAX-EBX-ECX-EDX", each in 8 hexadecimal digits. */
void lwp_write_registers(output *out, const pfb_lwp_capabilities *leaf);

#endif
