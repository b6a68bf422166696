/* SPDX-License-Identifier: MIT */
/* The functions of the registry under Windows' own names, for the shared library. Each W function also has the name
 * without the letter, because .NET outside of Windows does not try the letters. docs/registry.md says how to bind. */
#define PFB_REGISTRY_NO_NAMES

#include "registry/registry.c" /* NOLINT(bugprone-suspicious-include) */

/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define EXPORT(name, function) extern __typeof__(function) name __attribute__((alias(#function), visibility("default")))
#define EXPORT_BOTH(name)                                                                                              \
    EXPORT(name##A, pfb_##name##A);                                                                                    \
    EXPORT(name##W, pfb_##name##W);                                                                                    \
    EXPORT(name, pfb_##name##W)
/* NOLINTEND(bugprone-macro-parentheses) */

EXPORT(RegCloseKey, pfb_RegCloseKey);
EXPORT_BOTH(RegConnectRegistry);
EXPORT_BOTH(RegEnumKeyEx);
EXPORT_BOTH(RegEnumValue);
EXPORT_BOTH(RegOpenKey);
EXPORT_BOTH(RegOpenKeyEx);
EXPORT_BOTH(RegQueryInfoKey);
EXPORT_BOTH(RegQueryValueEx);
