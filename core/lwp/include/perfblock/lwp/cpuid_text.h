/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPUID_TEXT_H
#define PERFBLOCK_CPUID_TEXT_H

#include "perfblock/lwp/cpuid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reader of CPUID dumps in text form. Each line may have one of these layouts, in either case of letters (docs/cpuid.md
 * has examples):
 *   CPUID 8000001C: 00000000-80032013-00010200-8000000F [SL 00]
 *   0x8000001c 0x00: eax=0x00000000 ebx=0x80032013 ecx=0x00010200 edx=0x8000000f
 *   8000001C 00000000 80032013 00010200 8000000F              (leaf, registers)
 *   8000001C 00000000 00000000 80032013 00010200 8000000F     (leaf, sub-leaf, registers)
 *   ext_cpuid[28]=00000000 80032013 00010200 8000000f         (libcpuid; docs/cpuid.md lists its arrays)
 * A line that names a CPU ("CPU 0:", "Logical CPU #3") begins the next CPU. Before the first such line, a leaf 0 after
 * other leaves does, too. Other lines are skipped. PFB_BAD_CPUID_LINE: a line that begins as a leaf and is malformed
 * after that, or a line of unnamed registers with another number of columns than the earlier ones. Same conventions as
 * v2.h; work is linear in the size. */
typedef struct pfb_cpuid_text {
    pfb_error error;
    uint32_t lines; /* read so far */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    size_t at;
    uint32_t cpu;
    unsigned columns; /* columns after the leaf in lines of unnamed registers: 4 or 5; 0 before the first such line */
    bool has_leaf;    /* a leaf of this CPU was returned */
    bool is_named;    /* a line that names a CPU was read: leaf 0 no longer begins the next CPU */
} pfb_cpuid_text;

typedef struct pfb_cpuid_row {
    size_t offset; /* of the line */
    uint32_t line; /* from 1 */
    uint32_t cpu;  /* position among the CPUs that have leaves, from 0; not the number in the heading */
    pfb_cpuid_leaf leaf;
} pfb_cpuid_row;

/* Starts at the first line. A null `data` counts as empty. A UTF-8 byte order mark is skipped. In text in UTF-16 no
 * leaf is found. */
PFB_API void pfb_cpuid_text_open(pfb_cpuid_text *text, const void *data, size_t size);

/* Returns the next leaf in *row; false at the end and on error. */
PFB_API bool pfb_cpuid_text_next(pfb_cpuid_text *text, pfb_cpuid_row *row);

#ifdef __cplusplus
}
#endif

#endif
