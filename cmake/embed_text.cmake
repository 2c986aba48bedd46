# SPDX-License-Identifier: Apache-2.0
# Writes a C file with text files as strings: cmake -D OUT=FILE.c -D TEXTS=NAME=FILE,NAME=FILE -P …
# Each is `const char NAME[]`, with a NUL at its end.
string(REPLACE "," ";" texts "${TEXTS}")
set(code "/* written by cmake/embed_text.cmake */\n")
foreach(text IN LISTS texts)
  string(REGEX MATCH "^([^=]+)=(.+)$" matched "${text}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND code "extern const char ${name}[];\nconst char ${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE "${OUT}" "${code}")
