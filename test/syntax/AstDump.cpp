// SPDX-License-Identifier: Apache-2.0
/// Reads paths from standard input, one a line, and writes for each, in order, either "ok
/// <bytes>\n" and the dump with attributes, or "error <bytes>\n" and the rendered diagnostic. With
/// --time it writes one summary line instead.
#include "support/Diagnostics.h"
#include "syntax/Parser.h"

#include <chrono>
#include <cstdio>
#include <iostream>

using namespace pellucid;

static void answer(const char *status, const std::string &text) {
  std::printf("%s %zu\n", status, text.size());
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

static void dumpFile(const std::string &path) {
  auto file = SourceFile::open(path);
  if (!file)
    return answer("error", "cannot read " + path);
  try {
    answer("ok", syntax::dump(*syntax::parseModule(file),
                              {/*includeAttributes=*/true, /*positionsInFStrings=*/false}));
  } catch (const DiagnosticError &error) {
    answer("error", error.what());
  }
}

/// Parsing only; reading the files is not counted.
static void timeFiles() {
  std::chrono::duration<double> elapsed{};
  size_t bytes = 0, files = 0;
  for (std::string path; std::getline(std::cin, path);) {
    auto file = SourceFile::open(path);
    if (!file)
      continue;
    auto begin = std::chrono::steady_clock::now();
    try {
      syntax::parseModule(file);
    } catch (const DiagnosticError &) {
      continue;
    }
    elapsed += std::chrono::steady_clock::now() - begin;
    bytes += file->text().size();
    ++files;
  }
  std::printf("%zu files, %.1f MB in %.3f s: %.1f MB/s\n", files, bytes / 1e6, elapsed.count(),
              bytes / 1e6 / elapsed.count());
}

int main(int argc, char **argv) {
  if (argc == 2 && std::string(argv[1]) == "--time") {
    timeFiles();
    return 0;
  }
  for (std::string path; std::getline(std::cin, path);)
    dumpFile(path);
  return 0;
}
