// SPDX-License-Identifier: Apache-2.0
/// Regular expressions in the notation of Python's `re`: parsed to a small program that a
/// backtracking matcher runs. Every step is paid for from the Budget, so that a pattern that takes
/// exponential time is refused as any other endless program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pellucid::host {

/// A pattern that Python refuses too, in its words: "missing ), unterminated subpattern at position
/// 3".
class PatternError : public std::runtime_error {
public:
  using runtime_error::runtime_error;
};

/// A pattern or text that Python takes and we do not; the message says what is not supported.
class PatternLimit : public std::runtime_error {
public:
  using runtime_error::runtime_error;
};

class RegularExpression {
public:
  /// The numbers of Python's flags.
  enum Flag : uint32_t {
    IgnoreCase = 2,
    Locale = 4,
    MultiLine = 8,
    DotAll = 16,
    Unicode = 32,
    Verbose = 64,
    Ascii = 256
  };
  enum class Mode : uint8_t { Match, Search, Full };
  using Text = std::vector<uint32_t>; ///< code points
  /// Where the whole and each group begin and end, in code points; -1 where a group took no part.
  struct Match {
    std::vector<std::pair<int64_t, int64_t>> spans;
    size_t lastGroup = 0; ///< the group that was closed last; 0: none
  };

  /// Throws PatternError or PatternLimit.
  static std::shared_ptr<const RegularExpression> parse(std::string_view pattern, uint32_t flags);
  RegularExpression();
  ~RegularExpression();

  /// The first match in `text` from `from` on, up to `to`. `mustAdvance`: not an empty one at
  /// `from`, as after an empty match there. Throws PatternLimit.
  std::optional<Match> match(const Text &text, size_t from, size_t to, Mode mode,
                             bool mustAdvance = false) const;
  size_t groupCount() const { return groups; }
  const std::vector<std::pair<std::string, size_t>> &groupNames() const { return names; }
  uint32_t flags() const { return allFlags; }

  struct Program;

private:
  std::unique_ptr<Program> program;
  std::vector<std::pair<std::string, size_t>> names;
  size_t groups = 0;
  uint32_t allFlags = 0;
};

} // namespace pellucid::host
