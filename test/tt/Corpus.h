// SPDX-License-Identifier: Apache-2.0
// The TTIR that Triton made of the kernels in data/make_corpus.py.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace corpus {

inline std::filesystem::path folder(const std::string &version) {
  return std::filesystem::path(PELLUCID_SOURCE_DIR) / "test/tt/data" / version;
}

inline std::vector<std::filesystem::path> files(const std::string &version) {
  std::vector<std::filesystem::path> result;
  for (const auto &entry : std::filesystem::directory_iterator(folder(version)))
    if (entry.path().extension() == ".ttir")
      result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

inline std::string read(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace corpus
