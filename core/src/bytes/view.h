/* SPDX-License-Identifier: MIT */
#ifndef PFB_VIEW_H
#define PFB_VIEW_H

/* Turns offsets in the input into pointers. In core, only these functions, those of cursor.h and the readers of single
 * characters (code_points.h, line.h, name.c, path.c, pdh_text.c) do so: other files pass the range they need, and stay
 * inside that range with the pointer they get. */
#include <stddef.h>
#include <stdint.h>

/* The input, or its first `size` bytes. */
typedef struct pfb_view {
    const uint8_t *bytes;
    size_t size;
} pfb_view;

/* Returns a pointer to the n bytes at `offset`, or null if they are not all inside. */
static inline const uint8_t *pfb_at(pfb_view view, size_t offset, size_t n)
{
    return offset <= view.size && n <= view.size - offset ? view.bytes + offset : NULL;
}

/* Returns a pointer to the n bytes at `offset`. The caller has already checked that they are inside, usually for the
 * whole structure that they are part of. Tests nothing, so that it costs nothing in code that runs once per value.
 * Builds with PERFBLOCK_VERIFY, such as those with sanitizers, stop the program if the bytes are not inside. */
static inline const uint8_t *pfb_checked(pfb_view view, size_t offset, size_t n)
{
#if defined(PERFBLOCK_VERIFY)
    if (!pfb_at(view, offset, n))
        __builtin_trap();
#else
    (void)n;
#endif
    return view.bytes + offset;
}

#endif
