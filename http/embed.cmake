# Writes a C file with the bytes of some files:
#   cmake -DOUT=page_files.c -DIN=a.html,b.css,c.js -DNAMES=html,css,js -P embed.cmake
# Each becomes `const unsigned char http_page_NAME[]` and `const size_t http_page_NAME_size`.
string(REPLACE "," ";" files "${IN}")
string(REPLACE "," ";" names "${NAMES}")
set(text "/* Made from the files of the page by http/embed.cmake. */\n#include <stddef.h>\n")
foreach(file name IN ZIP_LISTS files names)
  file(READ ${file} hex HEX)
  string(LENGTH "${hex}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND text "extern const unsigned char http_page_${name}[];\n"
                     "extern const size_t http_page_${name}_size;\n"
                     "const unsigned char http_page_${name}[] = {${hex}0};\n"
                     "const size_t http_page_${name}_size = ${size};\n")
endforeach()
file(WRITE ${OUT} "${text}")
