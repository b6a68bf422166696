# SPDX-License-Identifier: MIT
# Installs libraries, headers, program, the CMake package and the pkg-config files; the result may be moved as a whole.
include(CMakePackageConfigHelpers)

# A static and a shared build may be installed in the same place: each has its own file of targets, and
# perfblockConfig.cmake chooses one.
get_target_property(type perfblock_core TYPE)
if(type STREQUAL "SHARED_LIBRARY")
    set(kind shared)
else()
    set(kind static)
endif()

# Components are the packages of perfblock_packages.cmake.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
foreach(package IN ITEMS perfblock=program libperfblock-dev=development)
    string(REPLACE "=" ";" package "${package}")
    list(GET package 0 name)
    list(GET package 1 component)
    install(
        FILES LICENSE RENAME copyright DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}" COMPONENT ${component}
    )
endforeach()

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/perfblock")
set(libraries perfblock_core perfblock_cpi perfblock_lwp)
set(headers core/include/ core/cpi/include/ core/lwp/include/)
if(TARGET perfblock_collect)
    list(APPEND libraries perfblock_collect)
endif()
if(TARGET perfblock_platform)
    list(APPEND libraries perfblock_platform)
    list(APPEND headers platform/include/)
elseif(TARGET perfblock_collect)
    foreach(name IN ITEMS code_page collect source stream)
        install(FILES platform/include/perfblock/${name}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/perfblock)
    endforeach()
endif()

install(TARGETS ${libraries} EXPORT perfblock_${kind})
install(DIRECTORY ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET perfblock_compat)
    install(TARGETS perfblock_compat EXPORT perfblock_${kind})
    install(DIRECTORY platform/compat/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/perfblock/compat)
endif()
install(
    DIRECTORY fixtures/ DESTINATION ${CMAKE_INSTALL_DATADIR}/perfblock/fixtures
    FILES_MATCHING PATTERN "*.pfb" PATTERN "*.txt" PATTERN "*.blg" PATTERN "*.csv" PATTERN "*.tsv" PATTERN "*.cpi"
                   PATTERN "README.md"
)
install(PROGRAMS fixtures/perfblock-fixture DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT perfblock_${kind} NAMESPACE perfblock:: FILE perfblock_${kind}_targets.cmake DESTINATION ${package_folder})
if(TARGET perfblock_cli)
    install(TARGETS perfblock_cli COMPONENT program)
    get_target_property(generated perfblock_cli PERFBLOCK_GENERATED)
    if(generated)
        install(DIRECTORY "${generated}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT program)
        install(DIRECTORY "${generated}/" DESTINATION "${CMAKE_INSTALL_DATADIR}" COMPONENT program PATTERN man EXCLUDE)
    endif()
endif()

set(built "${CMAKE_CURRENT_BINARY_DIR}/package")
configure_package_config_file(
    cmake/perfblockConfig.cmake.in ${built}/perfblockConfig.cmake INSTALL_DESTINATION ${package_folder}
)
write_basic_package_version_file(${built}/perfblockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${built}/perfblockConfig.cmake ${built}/perfblockConfigVersion.cmake DESTINATION ${package_folder})

# A .pc file computes the prefix from its own folder, ${pcfiledir}, so that the installed tree may be moved.
set(pc_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
foreach(name IN ITEMS LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${name}}")
        set(pc_${name} "${CMAKE_INSTALL_${name}}")
    else()
        set(pc_${name} "\${prefix}/${CMAKE_INSTALL_${name}}")
    endif()
endforeach()
set(pc_cflags "")
if(kind STREQUAL "shared")
    set(pc_cflags " -DPERFBLOCK_SHARED")
endif()
set(pc_platform_cflags "")
if(NOT PERFBLOCK_CPI_MAX_CPUS EQUAL 128)
    set(pc_platform_cflags " -DPFB_CPI_MAX_CPUS=${PERFBLOCK_CPI_MAX_CPUS}")
endif()
set(pc_platform_libs "")
if(CMAKE_THREAD_LIBS_INIT)
    set(pc_platform_libs " ${CMAKE_THREAD_LIBS_INIT}")
endif()
foreach(library IN LISTS libraries)
    string(REPLACE "perfblock_core" "perfblock" name "${library}")
    configure_file(cmake/${name}.pc.in ${built}/${name}.pc @ONLY)
    install(FILES ${built}/${name}.pc DESTINATION ${pc_folder})
endforeach()

if(kind STREQUAL "static" AND is_top_level)
    include(cmake/perfblock_packages.cmake)
endif()
