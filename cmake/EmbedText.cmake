# SPDX-License-Identifier: Apache-2.0
# cmake -DTEXT=FILE -DLITERAL=FILE -P EmbedText.cmake: a text as a raw string literal of C++.
file(READ "${TEXT}" text)
string(FIND "${text}" ")embedded\"" closing)
if(NOT closing EQUAL -1)
  message(FATAL_ERROR "${TEXT} holds the delimiter of the literal it becomes")
endif()
file(WRITE "${LITERAL}" "R\"embedded(${text})embedded\"")
