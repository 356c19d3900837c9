# PostgreSQL: only the header of libpq is needed to build. The library is loaded when a
# study in PostgreSQL is opened, so that programs and packages do not depend on it. Sets
#   COCABO_POSTGRES_FOUND    whether studies may be in PostgreSQL
#   COCABO_POSTGRES_INCLUDE  where its header is
set(COCABO_POSTGRES_FOUND OFF)
if(COCABO_POSTGRES)
  find_path(COCABO_POSTGRES_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql)
  mark_as_advanced(COCABO_POSTGRES_INCLUDE)
  if(COCABO_POSTGRES_INCLUDE)
    set(COCABO_POSTGRES_FOUND ON)
    cocabo_part("PostgreSQL" "studies in PostgreSQL, by libpq where that is installed")
  elseif(COCABO_POSTGRES STREQUAL AUTO)
    cocabo_part("PostgreSQL" "not built, there is no libpq-dev")
  else()
    message(FATAL_ERROR "COCABO_POSTGRES is ON, but there is no libpq-fe.h (Debian's libpq-dev)")
  endif()
else()
  cocabo_part("PostgreSQL" "not built, COCABO_POSTGRES is OFF")
endif()
