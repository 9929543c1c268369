// SPDX-License-Identifier: Apache-2.0
#include "driver/KernelKey.h"

#include <cctype>
#include <string_view>

namespace pellucid::driver {

namespace {

bool isNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// ` loc(#loc12)` at `at`; 0 where there is something else.
size_t placeLength(std::string_view text, size_t at) {
  constexpr std::string_view begin = " loc(#loc";
  if (text.substr(at, begin.size()) != begin)
    return 0;
  size_t end = at + begin.size();
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])))
    ++end;
  return end < text.size() && text[end] == ')' ? end + 1 - at : 0;
}

} // namespace

std::string withoutNames(std::string_view text, const std::string &symbol) {
  const std::string name = "@" + symbol;
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    bool beginsLine = at == 0 || text[at - 1] == '\n';
    if (beginsLine && text.substr(at, 4) == "#loc") {
      at = std::min(text.find('\n', at), text.size() - 1) + 1;
    } else if (size_t length = placeLength(text, at)) {
      at += length;
    } else if (text.substr(at, name.size()) == name &&
               (at + name.size() == text.size() || !isNamePart(text[at + name.size()]))) {
      out += "@kernel";
      at += name.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

bool saysItsName(std::string_view ttir) {
  return ttir.find("tt.assert") != std::string_view::npos ||
         ttir.find("tt.print") != std::string_view::npos;
}

std::string kernelKey(const CodegenKernel &kernel, const CodegenJob &job) {
  std::string key = toString(job.target) + (job.fpContract ? " contract " : " ") +
                    (job.exactTarget ? "exact " : "") + std::to_string(kernel.numWarps) + " " +
                    std::to_string(kernel.numStages) + " " +
                    (kernel.library ? toString(*kernel.library) : std::string()) + "\n";
  return key + (saysItsName(kernel.ttir) ? kernel.symbol + "\n" + kernel.ttir
                                         : withoutNames(kernel.ttir, kernel.symbol));
}

} // namespace pellucid::driver
