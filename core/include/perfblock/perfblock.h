/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_PERFBLOCK_H
#define PERFBLOCK_PERFBLOCK_H

/* Includes every header of perfblock::core; each may also be included alone. */
#include "perfblock/capture.h"
#include "perfblock/catalog.h"
#include "perfblock/error.h"
#include "perfblock/formula.h"
#include "perfblock/log.h"
#include "perfblock/metadata.h"
#include "perfblock/name.h"
#include "perfblock/number_text.h"
#include "perfblock/pdh_text.h"
#include "perfblock/query.h"
#include "perfblock/sample.h"
#include "perfblock/v1.h"
#include "perfblock/v2.h"
#include "perfblock/version.h"
#include "perfblock/write.h"

#endif
