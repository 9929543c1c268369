// SPDX-License-Identifier: Apache-2.0
/// A locale that writes 0.5 as "0,5", as much of Europe does, made on the spot: none need be
/// installed.
#pragma once

#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace pellucid::test {

/// While it lives, the process has it. `isThere` is false where the C library has another format
/// of locales.
class CommaLocale {
public:
  CommaLocale() {
    namespace fs = std::filesystem;
    folder = fs::temp_directory_path() / ("pellucid-locale-" + std::to_string(::getpid()));
    fs::create_directories(folder / "comma");
    // glibc's LC_NUMERIC: a magic number, six offsets; point, separator, groups, both as wide
    // characters, and the encoding's name.
    const uint32_t head[] = {0x20031114, 6, 32, 34, 36, 40, 44, 48};
    std::ofstream file(folder / "comma" / "LC_NUMERIC", std::ios::binary);
    file.write(reinterpret_cast<const char *>(head), sizeof head);
    file.write(",\0.\0\3\3\0\0,\0\0\0.\0\0\0UTF-8", 22);
    file.close();
    ::setenv("LOCPATH", folder.c_str(), 1);
    isThere = std::setlocale(LC_NUMERIC, "comma") != nullptr;
    char text[8];
    std::snprintf(text, sizeof text, "%.1f", 0.5);
    isThere = isThere && std::string(text) == "0,5";
  }
  ~CommaLocale() {
    std::setlocale(LC_NUMERIC, "C");
    ::unsetenv("LOCPATH");
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  CommaLocale(const CommaLocale &) = delete;
  CommaLocale &operator=(const CommaLocale &) = delete;

  bool isThere = false;

private:
  std::filesystem::path folder;
};

} // namespace pellucid::test
