/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_PERFBLOCK_H
#define PERFBLOCK_PERFBLOCK_H

/* Everything the core offers; each header may also be included alone. */
#include "perfblock/builder.h"
#include "perfblock/bulk.h"
#include "perfblock/capture.h"
#include "perfblock/catalog.h"
#include "perfblock/counter_type.h"
#include "perfblock/data_block.h"
#include "perfblock/error.h"
#include "perfblock/formula.h"
#include "perfblock/legacy_block.h"
#include "perfblock/legacy_builder.h"
#include "perfblock/name_table.h"
#include "perfblock/pairing.h"
#include "perfblock/query.h"
#include "perfblock/registration.h"
#include "perfblock/snapshot.h"
#include "perfblock/utf16.h"
#include "perfblock/version.h"

#endif
