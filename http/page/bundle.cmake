# Makes the three files that are served and that a report has inside:
#   cmake -DOUT=FOLDER -P bundle.cmake
# index.html and page.css as they are, and page.js: the modules of modules.txt in their
# order as one, without their imports and exports. Names at the top of modules differ, or
# the browser refuses page.js.
set(here ${CMAKE_CURRENT_LIST_DIR})
file(STRINGS ${here}/modules.txt modules)
set(all "")
foreach(module IN LISTS modules)
  file(READ ${here}/${module} text)
  set(text "\n${text}")
  string(REGEX REPLACE "\nimport {[^;]*;" "" text "${text}")
  string(REGEX REPLACE "\nexport {[^;]*;" "" text "${text}")
  string(REGEX REPLACE "\nexport " "\n" text "${text}")
  string(APPEND all "${text}")
endforeach()
file(WRITE ${OUT}/page.js "${all}")
foreach(file index.html page.css)
  configure_file(${here}/${file} ${OUT}/${file} COPYONLY)
endforeach()
