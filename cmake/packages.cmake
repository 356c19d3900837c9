# Debian packages, one a component:  cmake --preset packages && cmake --build --preset
# packages && cpack --config build-packages/CPackConfig.cmake
set(COCABO_MAINTAINER "cocabo authors <cocabo@example.org>" CACHE STRING
    "who packages; a distribution puts its own name here")
mark_as_advanced(COCABO_MAINTAINER)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT ${COCABO_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_COMPONENTS_ALL lib dev program)
if(NOT COCABO_PROGRAM_BUILT)
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL program)
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/finish.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own first line
set(about "Bayesian optimisation over numbers and categories")
set(text "cocabo finds the best setting of an expensive black box whose inputs are a
mixture of numbers and categories, in as few evaluations as it can.\n")

set(library libcocabo${COCABO_SERIES})
set(CPACK_DEBIAN_LIB_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
if(COCABO_POSTGRES_FOUND)
  set(CPACK_DEBIAN_LIB_PACKAGE_SUGGESTS libpq5) # loaded for studies on a server
endif()
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_COMPONENT_LIB_DESCRIPTION "${about} (library)\n${text}.\nThis is the shared library.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libcocabo-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION}-1)")
if(COCABO_SQLITE_SYSTEM)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libsqlite3-dev") # the static library's
  set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS zlib1g-dev) # sqlite3.pc names it, --static
endif()
set(CPACK_COMPONENT_DEV_DESCRIPTION
    "${about} (development)\n${text}.\nHeaders, the static library, pkg-config and CMake files.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME cocabo)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS gnuplot-nox) # png and pdf
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "${about} (program)\n${text}.\nThe program tunes any other program and keeps its studies in SQLite files.")

# What the policy wants of every package. The date is that of SOURCE_DATE_EPOCH, if set.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(cmake/debian/changelog.in debian/changelog.Debian @ONLY)
file(READ LICENSE licence)
string(REGEX REPLACE "^.*(Permission is)" "\\1" licence "${licence}") # the head says the rest
string(REGEX REPLACE "\n+$" "" licence "${licence}")
string(REPLACE "\n\n" "\n.\n" licence " ${licence}")
string(REPLACE "\n" "\n " licence "${licence}")
configure_file(cmake/debian/copyright.in debian/copyright @ONLY)
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} name)
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/debian/copyright
                ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian
          DESTINATION ${doc} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES CHANGELOG.md RENAME changelog
          DESTINATION ${doc} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
