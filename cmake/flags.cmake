# How everything here is compiled. Options of a directory: a project that adds ours with
# add_subdirectory or FetchContent sees none of them.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

# The same source gives the same bits everywhere, also in a parent that is compiled with
# -ffast-math: contraction is off, and so is what it may have turned on.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
                    -Wmissing-prototypes -fno-fast-math -ffp-contract=off -fno-math-errno)
add_compile_definitions(_POSIX_C_SOURCE=200809L)
if(COCABO_WERROR)
  add_compile_options(-Werror)
endif()

# Asserts are live where sanitizers are: the build types of the presets leave them out.
if(COCABO_SANITIZE)
  add_compile_options(-fsanitize=${COCABO_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -UNDEBUG)
  add_compile_definitions(CB_SANITIZED)
  # Undefined behaviour ends the program by SIGILL rather than with a message, but where
  # there are no tests to tell which input it was: what the messages are made of is a
  # third of a program, and tests start thousands of them.
  set(linked ${COCABO_SANITIZE})
  if(CMAKE_C_COMPILER_ID STREQUAL GNU AND COCABO_TESTS)
    add_compile_options(-fsanitize-undefined-trap-on-error)
    string(REGEX REPLACE ",?undefined" "" linked ${linked})
  endif()
  if(linked)
    add_link_options(-fsanitize=${linked})
  endif()
endif()
if(COCABO_COVERAGE)
  add_compile_options(--coverage -fprofile-update=single -O1) # ten times as fast as
  # atomic: a count may be off where threads race, whether a line ran is not
  add_link_options(--coverage)
endif()
if(COCABO_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# ---- hardening, as far as compiler and linker can ---------------------------------------
check_pie_supported(LANGUAGES C)
if(COCABO_HARDEN)
  check_c_compiler_flag(-fstack-protector-strong COCABO_HAS_STACK_PROTECTOR)
  if(COCABO_HAS_STACK_PROTECTOR)
    add_compile_options(-fstack-protector-strong)
  endif()
  check_linker_flag(C "LINKER:-z,relro,-z,now" COCABO_HAS_RELRO)
  if(COCABO_HAS_RELRO)
    add_link_options(LINKER:-z,relro,-z,now)
  endif()
  # It needs optimisation, and gets into the way of sanitizers. Who chose a level keeps it.
  if(NOT COCABO_SANITIZE AND NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE")
    add_compile_options(
      $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>)
  endif()
endif()
