# SPDX-License-Identifier: MIT
# Finds the tools that build and run the tests: the targets Python3::Interpreter and PkgConfig::CRITERION.

if(PERFBLOCK_TESTS)
    set(missing "")
    find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
    if(NOT Python3_FOUND)
        list(APPEND missing "Python 3.9 or newer (Debian and Ubuntu: python3)")
    endif()
    # Criterion is used on Unix without cross compilation; elsewhere tests/criterion replaces it.
    if("unit" IN_LIST PERFBLOCK_TEST_KINDS AND NOT CMAKE_CROSSCOMPILING AND NOT WIN32 AND NOT PERFBLOCK_STAND_IN)
        find_package(PkgConfig QUIET)
        if(PkgConfig_FOUND)
            pkg_check_modules(CRITERION QUIET IMPORTED_TARGET criterion)
        endif()
        if(NOT TARGET PkgConfig::CRITERION)
            list(APPEND missing "Criterion, found by pkg-config (Debian and Ubuntu: libcriterion-dev, pkg-config)")
        endif()
    endif()
    if(missing)
        list(JOIN missing ", " missing)
        message(FATAL_ERROR "The tests need: ${missing}. Install it, or build without tests: -DPERFBLOCK_TESTS=OFF")
    endif()
endif()
