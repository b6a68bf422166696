/* SPDX-License-Identifier: MIT */
#ifndef PFB_LOG_FIELDS_H
#define PFB_LOG_FIELDS_H

/* Samples of perfmon logs: signatures, offsets of fields and sizes in bytes. docs/log.md has the layout. */
enum {
    LOG_SAMPLE_SIGNATURE = 0x00034C42, /* "BL", 3, 0 */
    LOG_ITEM_SIGNATURE = 0x00034C42,   /* "BL", 3; the fourth byte is the kind */
    LOG_ITEM_SIZE = 4,
    LOG_ITEM_HEADER_BYTES = 8, /* the header of the sample has the same size */

    LOG_COUNTER_STATUS = 8,
    LOG_COUNTER_TIME = 12,
    LOG_COUNTER_FIRST = 24,
    LOG_COUNTER_SECOND = 32,
    LOG_COUNTER_MULTI_COUNT = 40,
    LOG_COUNTER_BYTES = 48,

    LOG_INSTANCES_COUNT = 12,
    LOG_INSTANCES_STATUS = 16,
    LOG_INSTANCES_TIME = 24,
    LOG_INSTANCES_HEADER_BYTES = 32,
    LOG_INSTANCE_STATUS = 4,
    LOG_INSTANCE_FIRST = 8,
    LOG_INSTANCE_SECOND = 16,
    LOG_INSTANCE_BYTES = 24,
    LOG_NAME_SHARING_FACTOR = 16 /* Names may overlap. The sum of their sizes is limited to 16 times the item's name
                                    area, so that reading them takes linear time. */
};

#endif
