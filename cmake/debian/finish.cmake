# Run by CPack between installing and packing: what Debian wants compressed or without
# debugging symbols.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/*.1
     ${CPACK_TEMPORARY_DIRECTORY}/changelog*)
list(FILTER pages EXCLUDE REGEX "\\.gz$")
if(pages)
  execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
file(GLOB_RECURSE archives ${CPACK_TEMPORARY_DIRECTORY}/*.a)
if(archives)
  execute_process(COMMAND strip --strip-debug --remove-section=.comment ${archives}
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
