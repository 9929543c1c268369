// SPDX-License-Identifier: Apache-2.0
// Trees to programs, and the matcher that runs them.
#include "host/RegularExpression.h"

#include "host/Budget.h"
#include "host/Letters.h"
#include "host/RegularExpressionProgram.h"
#include "host/Text.h"

#include <algorithm>

namespace pellucid::host {

using Node = PatternNode;
using Op = Instruction::Op;

static bool isAsciiLetter(uint32_t c) { return c < 128 && (c | 32) >= 'a' && (c | 32) <= 'z'; }
static bool isAsciiWord(uint32_t c) {
  return isAsciiLetter(c) || c == '_' || (c >= '0' && c <= '9');
}

bool isWordCharacter(uint32_t c, bool isAscii) {
  return isAsciiWord(c) || (c >= 128 && !isAscii && (letterKind(c) & Alnum));
}

static bool isInCategory(uint32_t c, char category, bool isAscii) {
  switch (category | 32) {
  case 's':
    return isAscii ? c == ' ' || (c >= '\t' && c <= '\r') : (letterKind(c) & Space) != 0;
  case 'w':
    return isWordCharacter(c, isAscii);
  default:
    return (c >= '0' && c <= '9') || (c >= 128 && !isAscii && (letterKind(c) & Decimal));
  }
}

/// What re takes for the same letter where case does not count.
static std::vector<uint32_t> otherCases(uint32_t c) {
  std::vector<uint32_t> out;
  auto add = [&](const std::string &text) {
    if (codePointLength(text, 0) == text.size())
      out.push_back(decodeCodePoint(text));
  };
  add(inCase(c, Case::Lower));
  add(inCase(c, Case::Upper));
  add(inCase(decodeCodePoint(inCase(c, Case::Upper)), Case::Lower));
  return out;
}

bool CharacterSet::contains(uint32_t c) const {
  auto isListed = [this](uint32_t x) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [x](const auto &range) { return range.first <= x && x <= range.second; });
  };
  bool found = isListed(c);
  if (!found && ignoresCase && !ranges.empty() && isAscii)
    found = isAsciiLetter(c) && isListed(c ^ 32);
  else if (!found && ignoresCase && !ranges.empty())
    for (uint32_t other : otherCases(c))
      found |= isListed(other);
  for (size_t i = 0; !found && i < categories.size(); ++i)
    found = isInCategory(c, categories[i], isAscii) == (categories[i] >= 'a');
  return found != isNegated;
}

// ---- programs

namespace {

constexpr size_t mostInstructions = 100'000;

class Assembler {
public:
  Assembler(RegularExpression::Program &p, const PatternTree &tree) : program(p) {
    program.slots = static_cast<uint32_t>(2 * (tree.groups + 1)) + 1;
    emit({Op::Save, 0});
    node(tree.root);
    emit({Op::Save, 1});
    emit({Op::Accept});
  }

private:
  RegularExpression::Program &program;

  uint32_t here() const { return static_cast<uint32_t>(program.code.size()); }
  uint32_t emit(Instruction instruction) {
    if (program.code.size() >= mostInstructions)
      throw PatternLimit("a pattern of more than " + std::to_string(mostInstructions) +
                         " steps is not supported");
    program.code.push_back(instruction);
    return here() - 1;
  }
  uint32_t setOf(const Node &character) {
    program.sets.push_back(character.set);
    return static_cast<uint32_t>(program.sets.size() - 1);
  }

  void node(const Node &n) {
    switch (n.kind) {
    case Node::Kind::Empty:
      return;
    case Node::Kind::Character:
      emit({Op::Character, setOf(n)});
      return;
    case Node::Kind::Sequence:
      for (const Node &child : n.children)
        node(child);
      return;
    case Node::Kind::Choice:
      return choice(n);
    case Node::Kind::Group:
      return group(n);
    case Node::Kind::Repeat:
      return repeat(n);
    case Node::Kind::Place:
      emit({.op = Op::Place, .flag = n.isAscii, .place = n.place});
      return;
    case Node::Kind::Back:
      emit({.op = Op::Back, .a = static_cast<uint32_t>(n.index), .flag = n.ignoresCase});
      return;
    case Node::Kind::Look:
      return look(n);
    }
  }

  void choice(const Node &n) {
    std::vector<uint32_t> ends;
    for (size_t i = 0; i + 1 < n.children.size(); ++i) {
      uint32_t split = emit({Op::Split});
      program.code[split].a = here();
      node(n.children[i]);
      ends.push_back(emit({Op::Jump}));
      program.code[split].b = here();
    }
    node(n.children.back());
    for (uint32_t end : ends)
      program.code[end].a = here();
  }

  void group(const Node &n) {
    auto slot = static_cast<uint32_t>(2 * n.index);
    if (n.index)
      emit({Op::Save, slot});
    node(n.children[0]);
    if (n.index)
      emit({Op::Save, slot + 1});
  }

  void repeat(const Node &n) {
    const Node &body = n.children[0];
    if (body.kind == Node::Kind::Character) {
      emit({.op = Op::Several, .a = setOf(body), .b = n.least, .c = n.most, .flag = n.isLazy});
      return;
    }
    for (uint32_t i = 0; i < n.least; ++i) {
      uint32_t before = here();
      node(body);
      if (here() == before)
        return;
    }
    uint32_t more = n.most == Node::unlimited ? 1 : n.most - n.least;
    if (!more)
      return;
    uint32_t reg = program.slots + program.registers++;
    emit({Op::Enter, reg});
    std::vector<uint32_t> exits;
    for (uint32_t i = 0; i < more; ++i) {
      uint32_t split = emit({Op::Split});
      uint32_t pass = emit({Op::Pass, reg});
      exits.push_back(pass);
      node(body);
      if (n.most == Node::unlimited)
        emit({Op::Jump, split});
      (n.isLazy ? program.code[split].b : program.code[split].a) = pass;
      exits.push_back(split);
    }
    for (uint32_t exit : exits) {
      Instruction &instruction = program.code[exit];
      (instruction.op == Op::Pass || !n.isLazy ? instruction.b : instruction.a) = here();
    }
  }

  /// How many characters `n` takes, where that is one number.
  static std::optional<uint32_t> width(const Node &n) {
    uint64_t sum = 0;
    switch (n.kind) {
    case Node::Kind::Character:
      return 1;
    case Node::Kind::Empty:
    case Node::Kind::Place:
      return 0;
    case Node::Kind::Look:
      return n.isAtomic ? width(n.children[0]) : 0;
    case Node::Kind::Back:
      throw PatternLimit("references to groups in a look-behind are not supported");
    case Node::Kind::Choice:
      for (const Node &child : n.children)
        if (width(child) != width(n.children[0]))
          return std::nullopt;
      return width(n.children[0]);
    case Node::Kind::Repeat: {
      std::optional<uint32_t> each = width(n.children[0]);
      if (!each || (n.least != n.most && *each))
        return std::nullopt;
      sum = uint64_t(*each) * n.least;
      break;
    }
    case Node::Kind::Group:
    case Node::Kind::Sequence:
      for (const Node &child : n.children) {
        std::optional<uint32_t> each = width(child);
        if (!each)
          return std::nullopt;
        sum += *each;
      }
    }
    if (sum > mostInstructions)
      throw PatternLimit("a look-behind of that width is not supported");
    return static_cast<uint32_t>(sum);
  }

  void look(const Node &n) {
    uint32_t back = 0;
    if (n.isBehind) {
      std::optional<uint32_t> fixed = width(n.children[0]);
      if (!fixed)
        throw PatternError("look-behind requires fixed-width pattern");
      back = *fixed;
    }
    uint32_t start = emit({.op = n.isAtomic    ? Op::Atomic
                                 : n.isNegated ? Op::Not
                                               : Op::Ahead,
                           .b = back});
    node(n.children[0]);
    emit({Op::Accept});
    program.code[start].a = here();
  }
};

// ---- matching

class Matcher {
public:
  using Text = RegularExpression::Text;
  Matcher(const RegularExpression::Program &p, const Text &t, size_t last,
          RegularExpression::Mode m)
      : program(p), text(t), end(static_cast<int64_t>(last)), mode(m) {}

  bool run(size_t from, bool mustAdvance) {
    start = static_cast<int64_t>(from);
    refusesEmpty = mustAdvance;
    Budget::pay(program.slots / 8);
    slots.assign(program.slots + program.registers, -1);
    slots[program.slots - 1] = 0;
    pending.clear();
    return execute(0, start, true).has_value();
  }

  RegularExpression::Match result() const {
    RegularExpression::Match match;
    for (uint32_t i = 0; i + 1 < program.slots; i += 2) {
      bool isSet = slots[i] >= 0 && slots[i + 1] >= 0;
      match.spans.emplace_back(isSet ? slots[i] : -1, isSet ? slots[i + 1] : -1);
    }
    match.lastGroup = static_cast<size_t>(slots[program.slots - 1]);
    return match;
  }

private:
  /// What to do when the way taken fails: go on elsewhere, or put a slot back first.
  struct Pending {
    uint32_t pc;   ///< or the slot
    int64_t value; ///< the position, or what was in the slot
    int64_t limit; ///< Several: the positions up to it are left to try; restores: -1
  };
  static constexpr int64_t isRestore = -1;
  static constexpr size_t mostPending = 10'000'000;
  const RegularExpression::Program &program;
  const Text &text;
  int64_t end, start = 0;
  RegularExpression::Mode mode;
  bool refusesEmpty = false;
  std::vector<int64_t> slots;
  std::vector<Pending> pending;
  HeldBytes held;

  uint32_t at(int64_t position) const { return text[static_cast<size_t>(position)]; }
  void push(Pending p) {
    if (pending.size() == pending.capacity()) {
      if (pending.size() >= mostPending)
        throw PatternLimit("a match that leaves more than " + std::to_string(mostPending) +
                           " ways open is not supported");
      size_t more = std::max<size_t>(64, pending.size());
      held.grow(more * sizeof(Pending));
      pending.reserve(pending.size() + more);
    }
    pending.push_back(p);
  }
  void setSlot(uint32_t slot, int64_t value) {
    push({slot, slots[slot], isRestore});
    slots[slot] = value;
  }

  /// The next way that is left above `base`.
  bool back(size_t base, uint32_t &pc, int64_t &position) {
    while (pending.size() > base) {
      Pending &p = pending.back();
      if (p.limit == isRestore) {
        slots[p.pc] = p.value;
        pending.pop_back();
        continue;
      }
      pc = p.pc, position = p.value;
      // A greedy run gives characters back, a lazy one takes more.
      if (p.value > p.limit)
        --p.value;
      else if (p.value < p.limit && takesMore(p))
        ++p.value;
      else
        pending.pop_back();
      return true;
    }
    return false;
  }
  bool takesMore(const Pending &p) const {
    const Instruction &several = program.code[p.pc - 1];
    return p.value < end && program.sets[several.a].contains(at(p.value));
  }

  /// Throws away the ways left open above `base`; what puts slots back stays.
  void commit(size_t base) {
    pending.erase(std::remove_if(pending.begin() + static_cast<ptrdiff_t>(base), pending.end(),
                                 [](const Pending &p) { return p.limit != isRestore; }),
                  pending.end());
  }

  /// Where the program at `pc` ends when it matches at `position`.
  std::optional<int64_t> execute(uint32_t pc, int64_t position, bool isWhole = false) {
    size_t base = pending.size();
    do {
      Budget::pay(1);
      const Instruction &i = program.code[pc];
      if (i.op == Op::Accept && (!isWhole || accepts(position)))
        return position;
      if (step(i, pc, position))
        continue;
      if (!back(base, pc, position))
        return std::nullopt;
    } while (true);
  }
  bool accepts(int64_t position) const {
    return !(refusesEmpty && position == start) &&
           !(mode == RegularExpression::Mode::Full && position != end);
  }

  bool step(const Instruction &i, uint32_t &pc, int64_t &position) {
    switch (i.op) {
    case Op::Character:
      return position < end && program.sets[i.a].contains(at(position)) && (++position, ++pc, true);
    case Op::Several:
      return several(i, pc, position);
    case Op::Split:
      push({i.b, position, position});
      pc = i.a;
      return true;
    case Op::Jump:
      pc = i.a;
      return true;
    case Op::Save:
      setSlot(i.a, position);
      if (i.a % 2 && i.a > 1)
        setSlot(program.slots - 1, i.a / 2);
      ++pc;
      return true;
    case Op::Place:
      return isPlace(i.place, i.flag, position) && (++pc, true);
    case Op::Back:
      return repeatsGroup(i, position) && (++pc, true);
    case Op::Enter:
      setSlot(i.a, -1);
      ++pc;
      return true;
    case Op::Pass:
      if (slots[i.a] == position) {
        pc = i.b;
        return true;
      }
      setSlot(i.a, position);
      ++pc;
      return true;
    case Op::Ahead:
    case Op::Not:
    case Op::Atomic:
      return look(i, pc, position);
    case Op::Accept:
      break;
    }
    return false;
  }

  bool several(const Instruction &i, uint32_t &pc, int64_t &position) {
    const CharacterSet &set = program.sets[i.a];
    int64_t most = i.c == Node::unlimited ? end - position : std::min<int64_t>(i.c, end - position);
    int64_t wanted = i.flag ? std::min<int64_t>(i.b, most) : most, count = 0;
    while (count < wanted && set.contains(at(position + count)))
      ++count;
    Budget::pay(static_cast<uint64_t>(count) / 8);
    if (count < i.b)
      return false;
    ++pc;
    int64_t least = position + i.b;
    if (i.flag) {
      position = least;
      if (position < end && i.b < i.c && set.contains(at(position)))
        push({pc, position + 1, std::max(position + 1, position - i.b + most)});
      return true;
    }
    position += count;
    if (position > least)
      push({pc, position - 1, least});
    return true;
  }

  bool isWordAt(int64_t position, bool isAscii) const {
    return position >= 0 && position < end && isWordCharacter(at(position), isAscii);
  }
  bool isPlace(char place, bool isAscii, int64_t position) const {
    switch (place) {
    case '^':
    case 'A':
      return position == 0;
    case 'm':
      return position == 0 || at(position - 1) == '\n';
    case 'Z':
      return position == end;
    case '$':
      return position == end || (position + 1 == end && at(position) == '\n');
    case 'n':
      return position == end || at(position) == '\n';
    default:
      // As in Python before 3.14, where \B does not match an empty text.
      return end > 0 &&
             (isWordAt(position - 1, isAscii) != isWordAt(position, isAscii)) == (place == 'b');
    }
  }

  bool repeatsGroup(const Instruction &i, int64_t &position) const {
    int64_t from = slots[2 * i.a], to = slots[2 * i.a + 1];
    if (from < 0 || to < from || to - from > end - position)
      return false;
    Budget::pay(static_cast<uint64_t>(to - from) / 8);
    for (int64_t k = 0; k < to - from; ++k) {
      uint32_t a = at(from + k), b = at(position + k);
      auto isCaseOf = [&] {
        std::vector<uint32_t> others = otherCases(a);
        return std::find(others.begin(), others.end(), b) != others.end();
      };
      if (a != b && !(i.flag && isCaseOf()))
        return false;
    }
    position += to - from;
    return true;
  }

  bool look(const Instruction &i, uint32_t &pc, int64_t &position) {
    size_t base = pending.size();
    std::optional<int64_t> ended;
    if (position >= i.b)
      ended = execute(pc + 1, position - i.b);
    if (i.op == Op::Not) {
      uint32_t unusedPc = 0;
      int64_t unused = 0;
      commit(base);
      back(base, unusedPc, unused);
      if (ended)
        return false;
    } else {
      if (!ended)
        return false;
      commit(base);
      if (i.op == Op::Atomic)
        position = *ended;
    }
    pc = i.a;
    return true;
  }
};

} // namespace

RegularExpression::RegularExpression() : program(std::make_unique<Program>()) {}
RegularExpression::~RegularExpression() = default;

std::shared_ptr<const RegularExpression> RegularExpression::parse(std::string_view pattern,
                                                                  uint32_t flags) {
  auto out = std::make_shared<RegularExpression>();
  PatternTree tree = parsePattern(pattern, flags);
  out->names = tree.names;
  out->groups = tree.groups;
  out->allFlags = tree.flags;
  Assembler(*out->program, tree);
  return out;
}

std::optional<RegularExpression::Match> RegularExpression::match(const Text &text, size_t from,
                                                                 size_t to, Mode mode,
                                                                 bool mustAdvance) const {
  to = std::min(to, text.size());
  Matcher matcher(*program, text, to, mode);
  for (size_t at = from; at <= to; ++at) {
    if (matcher.run(at, mustAdvance && at == from))
      return matcher.result();
    if (mode != Mode::Search)
      break;
  }
  return std::nullopt;
}

} // namespace pellucid::host
