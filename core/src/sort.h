/* SPDX-License-Identifier: MIT */
/* One sort for all that is kept in order, as arrays of positions. Not a header but a template: define
 *
 *     SORT_CONTEXT   a type
 *     SORT_COMPARE   int f(const SORT_CONTEXT *, uint32_t left, uint32_t right)
 *
 * and include it, once for each source. Instead of a function pointer: every call in core is visible to the check that
 * nothing recurs. */

/* Lets items[root] sink to its place in the heap of `count` items. */
static void sift_down(const SORT_CONTEXT *context, uint32_t *items, size_t root, size_t count)
{
    while (root < count / 2) { /* it has a left child */
        size_t child = 2 * root + 1;
        if (child + 1 < count && SORT_COMPARE(context, items[child], items[child + 1]) < 0)
            child++;
        if (SORT_COMPARE(context, items[root], items[child]) >= 0)
            return;
        uint32_t swap = items[root];
        items[root] = items[child];
        items[child] = swap;
        root = child;
    }
}

/* Heap sort: n log n at worst, in place. What stands in order already, as it mostly does, costs one pass. */
static void sort(const SORT_CONTEXT *context, uint32_t *items, size_t count)
{
    size_t in_order = 1;
    while (in_order < count && SORT_COMPARE(context, items[in_order - 1], items[in_order]) <= 0)
        in_order++;
    if (in_order >= count)
        return;
    for (size_t root = count / 2; root > 0; root--)
        sift_down(context, items, root - 1, count);
    for (size_t end = count - 1; end > 0; end--) {
        uint32_t swap = items[0];
        items[0] = items[end];
        items[end] = swap;
        sift_down(context, items, 0, end);
    }
}
