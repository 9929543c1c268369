// SPDX-License-Identifier: Apache-2.0
/// The tree that a pattern is parsed to, and the program that it becomes.
#pragma once

#include "host/RegularExpression.h"

#include <limits>

namespace pellucid::host {

/// One character out of a set.
struct CharacterSet {
  std::vector<std::pair<uint32_t, uint32_t>> ranges; ///< both ends belong to it
  std::string categories;                            ///< of "dDsSwW"
  bool isNegated = false, ignoresCase = false, isAscii = false;

  /// Throws PatternLimit where Unicode's tables would have to answer.
  bool contains(uint32_t c) const;
};

/// Whether `c` is one of \w: asked by \b too.
bool isWordCharacter(uint32_t c, bool isAscii);

struct PatternNode {
  enum class Kind : uint8_t {
    Empty,
    Character, ///< one out of `set`
    Sequence,
    Choice,
    Group,  ///< number `index`; 0: one that is not counted
    Repeat, ///< of the one child, from `least` to `most` times
    Place,  ///< `place`: one of ^ $ A Z b B, m for ^ and n for $ of MULTILINE
    Back,   ///< what group `index` matched
    Look    ///< (?= (?! (?<= (?<! and (?>
  };
  static constexpr uint32_t unlimited = std::numeric_limits<uint32_t>::max();
  Kind kind = Kind::Empty;
  std::vector<PatternNode> children;
  CharacterSet set;
  size_t index = 0;
  uint32_t least = 0, most = unlimited;
  bool isLazy = false, isNegated = false, isBehind = false, isAtomic = false;
  bool ignoresCase = false, isAscii = false;
  char place = 0;
};

struct PatternTree {
  PatternNode root;
  size_t groups = 0;
  std::vector<std::pair<std::string, size_t>> names;
  uint32_t flags = 0;
};

PatternTree parsePattern(std::string_view pattern, uint32_t flags);

struct Instruction {
  enum class Op : uint8_t {
    Character, ///< of sets[a]
    Several,   ///< of sets[a], from `b` to `c` times; lazily if `flag`
    Split,     ///< go on at a, and if that fails at b
    Jump,      ///< to a
    Save,      ///< the position is slot a
    Place,     ///< the position must be such a one; \b in ASCII if `flag`
    Back,      ///< group a again; without regard to case if `flag`
    Enter,     ///< loop register a: no pass yet
    Pass,   ///< another pass of the loop of register a, unless the last one took nothing: then to b
    Ahead,  ///< the program behind must match here, up to its Accept; then go on at a
    Not,    ///< it must not match here; then go on at a
    Atomic, ///< it must match here, without another try; then go on at a, where it ended
    Accept
  };
  Op op;
  uint32_t a = 0, b = 0, c = 0;
  bool flag = false;
  char place = 0;
};

struct RegularExpression::Program {
  std::vector<Instruction> code;
  std::vector<CharacterSet> sets;
  uint32_t slots = 0;     ///< two for the whole and for each group, then the group closed last
  uint32_t registers = 0; ///< behind the slots
};

} // namespace pellucid::host
