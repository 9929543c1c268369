// SPDX-License-Identifier: Apache-2.0
#include "FuzzTarget.h"

#ifdef PELLUCID_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return pellucid::fuzz::runOne({data, size});
}

#else

// Without libFuzzer: runs the files and every file of the folders that are named, each by itself
// and with some hundred changes, the same ones every time. What the ordinary tests do with the
// corpus.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace fs = std::filesystem;

static std::vector<uint8_t> contentsOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

/// Overwrites, removes, repeats or exchanges some bytes.
static void change(std::vector<uint8_t> &bytes, std::mt19937 &random) {
  static constexpr uint8_t extremes[] = {0, 1, 0x7f, 0x80, 0xff, '(', '[', '{', '"', '\\'};
  for (unsigned count = 1 + random() % 4; count > 0 && !bytes.empty(); --count) {
    size_t at = random() % bytes.size(),
           length = std::min<size_t>(1 + random() % 16, bytes.size() - at);
    auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 5) {
    case 0:
      *begin = static_cast<uint8_t>(random());
      break;
    case 1:
      *begin = extremes[random() % std::size(extremes)];
      break;
    case 2:
      bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(length));
      break;
    case 3: {
      std::vector<uint8_t> piece(begin, begin + static_cast<std::ptrdiff_t>(length));
      bytes.insert(begin, piece.begin(), piece.end());
      break;
    }
    default:
      *begin ^= static_cast<uint8_t>(1u << random() % 8);
    }
  }
}

int main(int count, char **words) {
  unsigned rounds = 100;
  std::vector<fs::path> files;
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    if (word.starts_with("--rounds="))
      rounds = static_cast<unsigned>(std::atoi(words[i] + 9));
    else if (fs::is_directory(words[i]))
      for (const auto &entry : fs::directory_iterator(words[i]))
        files.push_back(entry.path());
    else
      files.emplace_back(words[i]);
  }
  std::sort(files.begin(), files.end());
  std::mt19937 random(1);
  for (const fs::path &path : files) {
    const std::vector<uint8_t> bytes = contentsOf(path);
    pellucid::fuzz::runOne(bytes);
    for (unsigned round = 0; round < rounds; ++round) {
      std::vector<uint8_t> changed = bytes;
      change(changed, random);
      pellucid::fuzz::runOne(changed);
    }
  }
  std::printf("%zu files, %u changes of each\n", files.size(), rounds);
  return files.empty();
}

#endif
