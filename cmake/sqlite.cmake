# SQLite: the system's library, or an amalgamation (a folder with sqlite3.c and sqlite3.h)
# that is compiled in. Its names are hidden then, so that in a process that has an SQLite
# of its own, as Python has, each calls the one it was built with. Sets
#   COCABO_SQLITE_TEXT     what is said of it
#   COCABO_SQLITE_INCLUDE  where its header is
#   COCABO_SQLITE_OBJECTS  what the libraries are made of besides our own objects
#   COCABO_SQLITE_SYSTEM   whether who links the static library needs the system's
set(COCABO_SQLITE_TEXT "studies in SQLite files")
set(COCABO_SQLITE_OBJECTS "")
set(COCABO_SQLITE_SYSTEM ON)
if(NOT COCABO_SQLITE_AMALGAMATION)
  find_package(SQLite3)
  if(NOT SQLite3_FOUND)
    message(FATAL_ERROR "there is no SQLite: install its headers (Debian's libsqlite3-dev), "
                        "or name a folder with sqlite3.c and sqlite3.h to compile in "
                        "(-DCOCABO_SQLITE_AMALGAMATION=FOLDER), or do without "
                        "(-DCOCABO_SQLITE=OFF)")
  endif()
  list(APPEND COCABO_LINK SQLite::SQLite3)
  set(COCABO_SQLITE_INCLUDE ${SQLite3_INCLUDE_DIRS})
  return()
endif()

file(REAL_PATH "${COCABO_SQLITE_AMALGAMATION}" COCABO_SQLITE_INCLUDE)
foreach(name sqlite3.c sqlite3.h)
  if(NOT EXISTS ${COCABO_SQLITE_INCLUDE}/${name})
    message(FATAL_ERROR "COCABO_SQLITE_AMALGAMATION is ${COCABO_SQLITE_INCLUDE}, where "
                        "there is no ${name}")
  endif()
endforeach()
file(STRINGS ${COCABO_SQLITE_INCLUDE}/sqlite3.h line REGEX "^#define SQLITE_VERSION ")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" number "${line}")
string(APPEND COCABO_SQLITE_TEXT ", SQLite ${number} compiled in")
set(COCABO_SQLITE_SYSTEM OFF)

# What its authors recommend and what their configure script would find. It leaves alone
# what we rely on: the write-ahead log, STRICT tables, what finds damaged and moved files.
set(settings HAVE_FDATASYNC=1 HAVE_LOCALTIME_R=1 HAVE_USLEEP=1
    SQLITE_DEFAULT_MEMSTATUS=0 SQLITE_DQS=0 SQLITE_LIKE_DOESNT_MATCH_BLOBS
    SQLITE_OMIT_DEPRECATED SQLITE_OMIT_JSON SQLITE_OMIT_LOAD_EXTENSION
    SQLITE_OMIT_PROGRESS_CALLBACK SQLITE_OMIT_SHARED_CACHE SQLITE_THREADSAFE=1)
add_library(cocabo_sqlite OBJECT ${COCABO_SQLITE_INCLUDE}/sqlite3.c)
target_compile_definitions(cocabo_sqlite PRIVATE ${settings})
target_compile_options(cocabo_sqlite PRIVATE -w # its warnings are for its authors
                       $<$<CONFIG:Release>:-O2>) # as they build it; a fifth smaller
set(COCABO_SQLITE_OBJECTS $<TARGET_OBJECTS:cocabo_sqlite>)
