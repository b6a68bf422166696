/* SPDX-License-Identifier: MIT */
/* A template that sorts arrays of uint32_t, which are positions in an array of the caller. A source file includes it
 * once, after these definitions:
 *
 *     SORT_CONTEXT   a type
 *     SORT_COMPARE   int f(const SORT_CONTEXT *, uint32_t left, uint32_t right)
 *     SORT_PREFIX(x) x with a prefix, so that several sources can be compiled as one
 *
 * This file defines sort(context, items, count), with the prefix, and undefines the three macros.
 *
 * SORT_COMPARE is a macro, not a function pointer: the test for recursion in core can then see every call. No two items
 * may compare as equal, so the result does not depend on the algorithm. */

/* Inserts `item` into a heap of `count` items whose element `root` is free (the hole). The hole first sinks to a leaf
 * along the larger children, with one comparison per level; the item then rises from there, usually by few levels. */
static void SORT_PREFIX(sift_down)(const SORT_CONTEXT *context, uint32_t *items, size_t root, size_t count,
                                   uint32_t item)
{
    size_t hole = root;
    while (hole < (count - 1) / 2) { /* it has two children */
        size_t child = 2 * hole + 1;
        if (SORT_COMPARE(context, items[child], items[child + 1]) < 0)
            child++;
        items[hole] = items[child];
        hole = child;
    }
    if (hole < count / 2) { /* it has one child */
        items[hole] = items[2 * hole + 1];
        hole = 2 * hole + 1;
    }
    while (hole > root && SORT_COMPARE(context, items[(hole - 1) / 2], item) < 0) {
        items[hole] = items[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    items[hole] = item;
}

/* Returns true if the items are ascending, or descending if `is_descending`. */
static bool SORT_PREFIX(is_run)(const SORT_CONTEXT *context, const uint32_t *items, size_t count, bool is_descending)
{
    size_t length = 1;
    while (length < count && (SORT_COMPARE(context, items[length - 1], items[length]) > 0) == is_descending)
        length++;
    return length >= count;
}

static void SORT_PREFIX(reverse)(uint32_t *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t swap = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = swap;
    }
}

/* Heap sort in place, O(n log n) in the worst case. Input that is already sorted, the common case, or sorted in reverse
 * takes linear time. */
static void SORT_PREFIX(sort)(const SORT_CONTEXT *context, uint32_t *items, size_t count)
{
    if (SORT_PREFIX(is_run)(context, items, count, false))
        return;
    if (SORT_PREFIX(is_run)(context, items, count, true)) {
        SORT_PREFIX(reverse)(items, count);
        return;
    }
    for (size_t root = count / 2; root > 0; root--)
        SORT_PREFIX(sift_down)(context, items, root - 1, count, items[root - 1]);
    for (size_t end = count - 1; end > 0; end--) {
        uint32_t last = items[end];
        items[end] = items[0];
        SORT_PREFIX(sift_down)(context, items, 0, end, last);
    }
}

#undef SORT_PREFIX
#undef SORT_COMPARE
#undef SORT_CONTEXT
