# SPDX-License-Identifier: MIT
# The packages that `cpack -G DEB` makes in the build folder: perfblock is the program, libperfblock-dev everything else.
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_PACKAGE_CONTACT "the perfblock contributors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_VENDOR perfblock)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME perfblock)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The program perfblock shows, checks and converts V1 and V2 data and perfmon logs,
and computes the values that counters display.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libperfblock-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS libc6-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS python3) # for perfblock-fixture
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Static libraries, headers, packages for CMake and pkg-config, and fixtures.")
include(CPack)
