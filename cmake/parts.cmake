# What is built, what is not, and why: one line a part when the build is configured.

function(cocabo_part name text)
  message(STATUS "cocabo: ${name}: ${text}")
endfunction()

# Looks for a library and its header: sets NAME_LIBRARY, NAME_INCLUDE and NAME_PACKAGE, the
# Debian package that has both. A fifth argument is a folder below the usual ones.
macro(cocabo_find name library header package)
  find_library(${name}_LIBRARY ${library} PATH_SUFFIXES ${ARGN})
  find_path(${name}_INCLUDE ${header} PATH_SUFFIXES ${ARGN})
  mark_as_advanced(${name}_LIBRARY ${name}_INCLUDE)
  set(${name}_PACKAGE ${package})
endmacro()

# Whether the part that the option (ON, OFF or AUTO) stands for is built, given what it
# needs (names that cocabo_find has looked for): sets OPTION_BUILT.
function(cocabo_decide option part)
  set(missing "")
  foreach(name ${ARGN})
    if(NOT ${name}_LIBRARY OR NOT ${name}_INCLUDE)
      list(APPEND missing ${${name}_PACKAGE})
    endif()
  endforeach()
  list(JOIN missing ", " missing)
  set(built OFF)
  if(NOT ${option})
    cocabo_part(${part} "not built, ${option} is OFF")
  elseif(NOT missing)
    set(built ON)
    cocabo_part(${part} "built")
  elseif("${${option}}" STREQUAL AUTO)
    cocabo_part(${part} "not built, there is no ${missing}")
  else()
    message(FATAL_ERROR "${option} is ON, but there is no ${missing} (the names of Debian's "
                        "packages)")
  endif()
  set(${option}_BUILT ${built} PARENT_SCOPE)
endfunction()

# Man pages come out of the program itself: its tables are the only source. A program
# that this machine cannot run (cross-compiled, no emulator) gets none.
function(cocabo_manual program component)
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    cocabo_part("man pages" "not built, ${program} does not run on this machine")
    return()
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/man1)
  add_custom_command(OUTPUT ${folder}/made
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
                     COMMAND ${program} --man --into ${folder}
                     COMMAND ${CMAKE_COMMAND} -E touch ${folder}/made
                     DEPENDS ${program} VERBATIM)
  add_custom_target(${program}-man ALL DEPENDS ${folder}/made)
  if(COCABO_INSTALL)
    install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT ${component}
            FILES_MATCHING PATTERN "*.1")
  endif()
endfunction()
