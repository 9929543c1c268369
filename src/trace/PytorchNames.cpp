// SPDX-License-Identifier: Apache-2.0
#include "trace/PytorchNames.h"

#include <algorithm>
#include <map>
#include <set>

namespace pellucid::trace {

namespace {

/// Written by scripts/record_torch_names.py.
const char *const recorded =
#include "trace/torch/names.txt.inc"
    ;

using Names = std::map<std::string_view, std::set<std::string_view>>;

std::string_view takeWord(std::string_view &text, char end) {
  size_t at = std::min(text.find(end), text.size());
  std::string_view word = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return word;
}

const Names &names() {
  static const Names all = [] {
    Names out;
    std::string_view text = recorded;
    while (!text.empty()) {
      std::string_view line = takeWord(text, '\n');
      if (line.starts_with("#"))
        continue;
      auto &module = out[takeWord(line, ':')];
      while (!line.empty())
        if (std::string_view word = takeWord(line, ' '); !word.empty())
          module.insert(word);
    }
    return out;
  }();
  return all;
}

} // namespace

bool isPytorchName(std::string_view module, std::string_view name) {
  auto found = names().find(module);
  return name.starts_with("_") || found == names().end() || found->second.count(name) != 0;
}

std::vector<std::string> listedModules() {
  std::vector<std::string> out;
  for (const auto &[module, words] : names())
    out.emplace_back(module);
  return out;
}

} // namespace pellucid::trace
