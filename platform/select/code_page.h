/* SPDX-License-Identifier: MIT */
#ifndef PFB_SELECT_CODE_PAGE_H
#define PFB_SELECT_CODE_PAGE_H

#include "perfblock/code_page.h"

/* Returns true if names in this encoding can be converted: a code page of code_page.h, or one that name.h lists. */
bool pfb_code_page_is_known(uint32_t number);

#endif
