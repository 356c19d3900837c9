# Where things go, by component: lib (the shared library), dev (what compiling needs),
# program and bench. Then pkg-config, the CMake package, uninstall and packages.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cocabo)

install(TARGETS cocabo EXPORT cocabo-targets
        LIBRARY COMPONENT lib NAMELINK_COMPONENT dev
        PUBLIC_HEADER COMPONENT dev)
install(TARGETS cocabo_static EXPORT cocabo-static-targets ARCHIVE COMPONENT dev)

# The static library has a file of its own: only who links it needs SQLite's headers.
foreach(set cocabo-targets cocabo-static-targets)
  install(EXPORT ${set} NAMESPACE cocabo:: DESTINATION ${package_dir} COMPONENT dev)
endforeach()
configure_package_config_file(cmake/cocabo-config.cmake.in cocabo-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(cocabo-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cocabo-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/cocabo-config-version.cmake
        DESTINATION ${package_dir} COMPONENT dev)

# Paths relative to the file, so that an installed tree may be moved.
set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_libdir ${pc_dir} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH pc_includedir ${pc_dir} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(pc_requires "")
if(COCABO_SQLITE_SYSTEM)
  set(pc_requires sqlite3)
endif()
set(pc_libs "-lm ${CMAKE_THREAD_LIBS_INIT}")
string(STRIP "${pc_libs}" pc_libs)
configure_file(cmake/cocabo.pc.in cocabo.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cocabo.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -P
                                      ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
  include(cmake/packages.cmake)
endif()
