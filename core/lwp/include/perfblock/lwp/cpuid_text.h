/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPUID_TEXT_H
#define PERFBLOCK_CPUID_TEXT_H

#include "perfblock/lwp/cpuid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reader of a text dump. Layouts, recognised line by line, in either case of letters (docs/cpuid.md has examples):
 *   CPUID 8000001C: 00000000-80032013-00010200-8000000F [SL 00]
 *   0x8000001c 0x00: eax=0x00000000 ebx=0x80032013 ecx=0x00010200 edx=0x8000000f
 *   8000001C 00000000 80032013 00010200 8000000F              (leaf, registers)
 *   8000001C 00000000 00000000 80032013 00010200 8000000F     (leaf, sub-leaf, registers)
 *   ext_cpuid[28]=00000000 80032013 00010200 8000000f         (libcpuid; basic_cpuid[], and the numbered functions)
 * A line that names a CPU ("CPU 0:", "Logical CPU #3") begins another one; so does a leaf 0 behind other leaves.
 * Other lines are passed over. A line that begins as a leaf and does not go on as one is PFB_BAD_CPUID_LINE, and so are
 * bare columns that are not as many as in the lines before.
 * Manners are those of v2.h: the first failure sticks. Work is linear in the size. */
typedef struct pfb_cpuid_text {
    pfb_error error;
    uint32_t lines; /* read so far */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
    uint32_t cpu;
    unsigned columns; /* of the bare lines behind their leaf: 4 or 5, 0 before the first one */
    bool has_leaf;    /* of this CPU one was handed out */
    bool is_named;    /* the CPU's heading was read */
} pfb_cpuid_text;

typedef struct pfb_cpuid_row {
    size_t offset; /* of the line */
    uint32_t line; /* from 1 */
    uint32_t cpu;  /* position of the CPU in the dump, from 0, whatever number its heading tells */
    pfb_cpuid_leaf leaf;
} pfb_cpuid_row;

/* A null `data` counts as empty. A byte order mark of UTF-8 is passed over. UTF-16LE with one, as some programs of
 * Windows write, is not read. */
PFB_API void pfb_cpuid_text_open(pfb_cpuid_text *text, const void *data, size_t size);

/* The next leaf. False at the end, and after a failure: `error` tells which. */
PFB_API bool pfb_cpuid_text_next(pfb_cpuid_text *text, pfb_cpuid_row *row);

#ifdef __cplusplus
}
#endif

#endif
