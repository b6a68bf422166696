/* SPDX-License-Identifier: MIT */
/* One sort for all that is kept in order, as arrays of positions. Not a header but a template: define
 *
 *     SORT_CONTEXT   a type
 *     SORT_COMPARE   int f(const SORT_CONTEXT *, uint32_t left, uint32_t right)
 *
 * and include it, once for each source. Instead of a function pointer: every call in core is visible to the check that
 * nothing recurs. No two items may compare as equal: then there is one order, whichever way leads to it. */

/* Fills the hole at `root` of a heap of `count` items with `item`. The hole goes down to a leaf along the larger
 * children, which takes one comparison a level, and the item then up from there: it mostly belongs near the leaves. */
static void sift_down(const SORT_CONTEXT *context, uint32_t *items, size_t root, size_t count, uint32_t item)
{
    size_t hole = root;
    while (hole < (count - 1) / 2) { /* it has two children */
        size_t child = 2 * hole + 1;
        if (SORT_COMPARE(context, items[child], items[child + 1]) < 0)
            child++;
        items[hole] = items[child];
        hole = child;
    }
    if (hole < count / 2) { /* the last one that has any, and has one */
        items[hole] = items[2 * hole + 1];
        hole = 2 * hole + 1;
    }
    while (hole > root && SORT_COMPARE(context, items[(hole - 1) / 2], item) < 0) {
        items[hole] = items[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    items[hole] = item;
}

/* Whether each item stands behind (before, if `falling`) the one in front of it. */
static bool is_run(const SORT_CONTEXT *context, const uint32_t *items, size_t count, bool falling)
{
    size_t length = 1;
    while (length < count && (SORT_COMPARE(context, items[length - 1], items[length]) > 0) == falling)
        length++;
    return length >= count;
}

static void reverse(uint32_t *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t swap = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = swap;
    }
}

/* Heap sort: n log n at worst, in place. What stands in order already, as it mostly does, costs one pass, and so does
 * what stands in the opposite order. */
static void sort(const SORT_CONTEXT *context, uint32_t *items, size_t count)
{
    if (is_run(context, items, count, false))
        return;
    if (is_run(context, items, count, true)) {
        reverse(items, count);
        return;
    }
    for (size_t root = count / 2; root > 0; root--)
        sift_down(context, items, root - 1, count, items[root - 1]);
    for (size_t end = count - 1; end > 0; end--) {
        uint32_t last = items[end];
        items[end] = items[0];
        sift_down(context, items, 0, end, last);
    }
}
