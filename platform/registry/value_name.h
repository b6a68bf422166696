/* SPDX-License-Identifier: MIT */
#ifndef PFB_REGISTRY_VALUE_NAME_H
#define PFB_REGISTRY_VALUE_NAME_H

/* Value names of the performance keys. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VALUE_NAMES,   /* "Counter 009": the name table */
    VALUE_HELP,    /* "Help 009", "Explain 009" */
    VALUE_GLOBAL,  /* all objects */
    VALUE_OBJECTS, /* "238 2": those with these title indexes */
    VALUE_NOTHING  /* no objects: costly and foreign ones, and unknown names */
};

typedef struct registry_value {
    uint32_t kind; /* VALUE_ */
    bool has_language;
    uint32_t language; /* of tables */
    uint32_t *titles;  /* of VALUE_OBJECTS, each once, in the order of the name */
    size_t title_count;
} registry_value;

/* Reads a name, in UTF-8. Case is ignored, and what follows a word is not compared: "CounterDefinition" is "Counter".
 * Returns false when memory is exhausted. Free value->titles. */
bool pfb_registry_read_name(const char *name, registry_value *value);

#endif
