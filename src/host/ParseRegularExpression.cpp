// SPDX-License-Identifier: Apache-2.0
// Patterns to trees, as CPython's re/_parser.py reads them.
#include "host/RegularExpressionProgram.h"

#include "host/Text.h"

#include <algorithm>
#include <map>

namespace pellucid::host {

using Node = PatternNode;
using Regex = RegularExpression;

namespace {

constexpr size_t mostPatternNesting = 100;
constexpr uint32_t endOfPattern = std::numeric_limits<uint32_t>::max();
constexpr uint32_t lastPoint = 0x10ffff;

bool isDigit(uint32_t c) { return c >= '0' && c <= '9'; }
bool isLetter(uint32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isBlank(uint32_t c) { return c < 128 && isSpace(static_cast<char>(c)); }

class Parser {
public:
  Parser(std::string_view pattern, uint32_t f) : flags(f) {
    for (size_t i = 0; i < pattern.size(); i += codePointLength(pattern, i))
      text.push_back(decodeCodePoint(pattern.substr(i)));
  }

  PatternTree run() {
    tree.flags = flags;
    readGlobalFlags();
    flags = tree.flags;
    tree.root = choice();
    if (!atEnd())
      fail("unbalanced parenthesis", at);
    return std::move(tree);
  }

private:
  Regex::Text text;
  size_t at = 0, depth = 0;
  uint32_t flags;
  PatternTree tree;
  std::vector<bool> isClosed{true}; ///< by group

  bool atEnd() const { return at >= text.size(); }
  uint32_t peek(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : endOfPattern;
  }
  bool take(uint32_t c) {
    if (peek() != c)
      return false;
    ++at;
    return true;
  }
  bool takeWord(std::string_view word) {
    for (size_t i = 0; i < word.size(); ++i)
      if (peek(i) != static_cast<uint32_t>(word[i]))
        return false;
    at += word.size();
    return true;
  }
  [[noreturn]] static void fail(const std::string &message, size_t where) {
    throw PatternError(message + " at position " + std::to_string(where));
  }
  bool has(Regex::Flag flag) const { return (flags & flag) != 0; }

  static uint32_t flagOf(uint32_t c) {
    switch (c) {
    case 'i':
      return Regex::IgnoreCase;
    case 'L':
      return Regex::Locale;
    case 'm':
      return Regex::MultiLine;
    case 's':
      return Regex::DotAll;
    case 'u':
      return Regex::Unicode;
    case 'x':
      return Regex::Verbose;
    case 'a':
      return Regex::Ascii;
    default:
      return 0;
    }
  }

  /// (?im) at the very beginning holds for the whole pattern.
  void readGlobalFlags() {
    while (peek() == '(' && peek(1) == '?' && flagOf(peek(2))) {
      size_t end = at + 2;
      uint32_t more = 0;
      while (end < text.size() && flagOf(text[end]))
        more |= flagOf(text[end++]);
      if (end >= text.size() || text[end] != ')')
        return;
      tree.flags |= more;
      at = end + 1;
    }
    if (tree.flags & Regex::Locale)
      throw PatternError("cannot use LOCALE flag with a str pattern");
    if ((tree.flags & Regex::Ascii) && (tree.flags & Regex::Unicode))
      throw PatternError("ASCII and UNICODE flags are incompatible");
    if (!(tree.flags & Regex::Ascii))
      tree.flags |= Regex::Unicode;
  }

  Node choice() {
    std::vector<Node> branches;
    do
      branches.push_back(sequence());
    while (take('|'));
    if (branches.size() == 1)
      return std::move(branches[0]);
    Node node;
    node.kind = Node::Kind::Choice;
    node.children = std::move(branches);
    return node;
  }

  void skipVerbose() {
    while (has(Regex::Verbose) && !atEnd() && (isBlank(peek()) || peek() == '#'))
      if (text[at++] == '#')
        while (!atEnd() && text[at++] != '\n') {
        }
  }

  Node sequence() {
    Node node;
    node.kind = Node::Kind::Sequence;
    for (skipVerbose(); !atEnd() && peek() != '|' && peek() != ')'; skipVerbose()) {
      std::optional<Node> item = element();
      if (!item)
        continue;
      skipVerbose();
      node.children.push_back(repeated(std::move(*item)));
    }
    return node;
  }

  /// The bounds of a quantifier, or nothing; a brace that is none is a character.
  bool quantifier(uint32_t &least, uint32_t &most) {
    if (take('*'))
      return least = 0, most = Node::unlimited, true;
    if (take('+'))
      return least = 1, most = Node::unlimited, true;
    if (take('?'))
      return least = 0, most = 1, true;
    if (peek() != '{' || peek(1) == '}')
      return false;
    size_t start = at++;
    std::optional<uint32_t> low = number(), high;
    bool isRange = take(',');
    high = isRange ? number() : low;
    if (!take('}') || (!isRange && !low)) {
      at = start;
      return false;
    }
    least = low.value_or(0), most = high.value_or(Node::unlimited);
    if (most < least)
      fail("min repeat greater than max repeat", start);
    return true;
  }

  std::optional<uint32_t> number() {
    uint64_t n = 0;
    size_t start = at;
    for (; isDigit(peek()); ++at)
      if (n = n * 10 + (peek() - '0'); n >= Node::unlimited)
        throw PatternError("the repetition number is too large");
    return at == start ? std::nullopt : std::optional(static_cast<uint32_t>(n));
  }

  Node repeated(Node item) {
    size_t where = at;
    uint32_t least = 0, most = 0;
    if (!quantifier(least, most))
      return item;
    if (item.kind == Node::Kind::Place)
      fail("nothing to repeat", where);
    Node node;
    node.kind = Node::Kind::Repeat;
    node.least = least, node.most = most;
    node.isLazy = take('?');
    bool isPossessive = !node.isLazy && take('+');
    node.children.push_back(std::move(item));
    skipVerbose();
    where = at;
    if (quantifier(least, most))
      fail("multiple repeat", where);
    if (!isPossessive)
      return node;
    Node atomic;
    atomic.kind = Node::Kind::Look;
    atomic.isAtomic = true;
    atomic.children.push_back(std::move(node));
    return atomic;
  }

  Node character(uint32_t c) const {
    Node node;
    node.kind = Node::Kind::Character;
    node.set.ranges.emplace_back(c, c);
    return inSet(std::move(node));
  }
  Node inSet(Node node) const {
    node.set.ignoresCase = has(Regex::IgnoreCase);
    node.set.isAscii = has(Regex::Ascii);
    return node;
  }
  static Node place(char c, bool isAscii = false) {
    Node node;
    node.kind = Node::Kind::Place;
    node.place = c;
    node.isAscii = isAscii;
    return node;
  }

  /// One thing that a quantifier may stand behind; nothing for a comment.
  std::optional<Node> element() {
    size_t start = at;
    uint32_t least = 0, most = 0;
    if (quantifier(least, most))
      fail("nothing to repeat", start);
    uint32_t c = text[at++];
    switch (c) {
    case '.': {
      Node node;
      node.kind = Node::Kind::Character;
      node.set.isNegated = true;
      if (!has(Regex::DotAll))
        node.set.ranges.emplace_back('\n', '\n');
      return node;
    }
    case '^':
      return place(has(Regex::MultiLine) ? 'm' : '^');
    case '$':
      return place(has(Regex::MultiLine) ? 'n' : '$');
    case '[':
      return set(start);
    case '(':
      return group(start);
    case '\\':
      return escape(start);
    default:
      return character(c);
    }
  }

  uint32_t hexadecimal(size_t digits, size_t start) {
    uint32_t value = 0;
    for (size_t i = 0; i < digits; ++i, ++at) {
      uint32_t c = peek();
      bool isHex = isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!isHex)
        fail("incomplete escape " + shown(start, at), start);
      value = value * 16 + (isDigit(c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    if (value > lastPoint)
      fail("bad escape " + shown(start, at), start);
    return value;
  }
  std::string shown(size_t from, size_t to) const {
    std::string out;
    for (size_t i = from; i < std::min(to, text.size()); ++i)
      out += encodeCodePoint(text[i]);
    return out;
  }

  /// The escapes that mean one character, both in sets and outside.
  std::optional<uint32_t> characterEscape(uint32_t c, size_t start) {
    static const std::map<uint32_t, uint32_t> letters = {
        {'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'f', '\f'}, {'v', '\v'}, {'a', '\a'}, {'\\', '\\'}};
    if (auto it = letters.find(c); it != letters.end())
      return it->second;
    if (c == 'x')
      return hexadecimal(2, start);
    if (c == 'u')
      return hexadecimal(4, start);
    if (c == 'U')
      return hexadecimal(8, start);
    if (c == 'N')
      throw PatternLimit("names of characters (\\N{...}) are not supported in patterns");
    if (isLetter(c))
      return std::nullopt;
    return isDigit(c) ? std::nullopt : std::optional(c);
  }

  uint32_t octal(size_t most) {
    uint32_t value = 0;
    for (size_t i = 0; i < most && peek() >= '0' && peek() <= '7'; ++i)
      value = value * 8 + (text[at++] - '0');
    return value;
  }

  Node escape(size_t start) {
    if (atEnd())
      fail("bad escape (end of pattern)", start);
    uint32_t c = text[at++];
    if (c == 'A' || c == 'Z' || c == 'b' || c == 'B')
      return place(static_cast<char>(c), has(Regex::Ascii));
    if (std::string_view("dDsSwW").find(static_cast<char>(c)) != std::string_view::npos &&
        c < 128) {
      Node node;
      node.kind = Node::Kind::Character;
      node.set.categories = static_cast<char>(c);
      return inSet(std::move(node));
    }
    if (c == '0')
      return character(octal(2));
    if (isDigit(c))
      return reference(c, start);
    if (auto one = characterEscape(c, start))
      return character(*one);
    fail("bad escape " + shown(start, at), start);
  }

  Node reference(uint32_t c, size_t start) {
    auto isOctal = [](uint32_t d) { return d >= '0' && d <= '7'; };
    if (isDigit(peek())) {
      if (isOctal(c) && isOctal(peek()) && isOctal(peek(1))) {
        at = start + 1;
        uint32_t value = octal(3);
        if (value > 0377)
          fail("octal escape value " + shown(start, at) + " outside of range 0-0o377", start);
        return character(value);
      }
      return backReference((c - '0') * 10 + (text[at++] - '0'), start + 1);
    }
    return backReference(c - '0', start + 1);
  }

  Node backReference(size_t index, size_t where) const {
    if (index >= isClosed.size())
      fail("invalid group reference " + std::to_string(index), where);
    if (!isClosed[index])
      fail("cannot refer to an open group", where - 1);
    Node node;
    node.kind = Node::Kind::Back;
    node.index = index;
    node.ignoresCase = has(Regex::IgnoreCase);
    return node;
  }

  /// A member of a set: a character, or nothing where it is a category.
  std::optional<uint32_t> member(CharacterSet &into) {
    uint32_t c = text[at++];
    if (c != '\\')
      return c;
    if (atEnd())
      fail("bad escape (end of pattern)", at - 1);
    size_t escapeStart = at - 1;
    c = text[at++];
    if (c < 128 &&
        std::string_view("dDsSwW").find(static_cast<char>(c)) != std::string_view::npos) {
      into.categories += static_cast<char>(c);
      return std::nullopt;
    }
    if (c == 'b')
      return '\b';
    if (c >= '0' && c <= '7') {
      at = escapeStart + 1;
      uint32_t value = octal(3);
      if (value > 0377)
        fail("octal escape value " + shown(escapeStart, at) + " outside of range 0-0o377",
             escapeStart);
      return value;
    }
    if (auto one = characterEscape(c, escapeStart))
      return one;
    fail("bad escape " + shown(escapeStart, at), escapeStart);
  }

  Node set(size_t start) {
    Node node;
    node.kind = Node::Kind::Character;
    CharacterSet &into = node.set;
    into.isNegated = take('^');
    bool isFirst = true;
    for (;; isFirst = false) {
      if (atEnd())
        fail("unterminated character set", start);
      if (peek() == ']' && !isFirst)
        break;
      size_t memberStart = at;
      std::optional<uint32_t> low = member(into);
      if (peek() != '-' || peek(1) == ']') {
        if (low)
          into.ranges.emplace_back(*low, *low);
        continue;
      }
      ++at;
      if (atEnd())
        fail("unterminated character set", start);
      std::optional<uint32_t> high = member(into);
      if (!low || !high || *high < *low)
        fail("bad character range " + shown(memberStart, at), memberStart);
      into.ranges.emplace_back(*low, *high);
    }
    ++at;
    return inSet(std::move(node));
  }

  std::string name(uint32_t terminator) {
    size_t start = at;
    while (!atEnd() && peek() != terminator)
      ++at;
    if (atEnd())
      fail(start == at ? "missing group name"
                       : "missing " + encodeCodePoint(terminator) + ", unterminated name",
           start);
    std::string out = shown(start, at++);
    if (out.empty())
      fail("missing group name", start);
    bool isName = !isDigit(text[start]);
    for (size_t i = start; i + 1 < at; ++i)
      isName = isName && (isLetter(text[i]) || isDigit(text[i]) || text[i] == '_');
    if (!isName)
      fail("bad character in group name '" + out + "'", start);
    return out;
  }

  std::optional<Node> group(size_t start) {
    if (++depth > mostPatternNesting)
      throw PatternLimit("patterns nested more than " + std::to_string(mostPatternNesting) +
                         " levels deep are not supported");
    uint32_t before = flags;
    std::optional<Node> node = insideGroup(start);
    flags = before;
    --depth;
    return node;
  }

  void close(size_t start) {
    if (!take(')'))
      fail("missing ), unterminated subpattern", start);
  }

  Node counted(size_t start, const std::string &called) {
    size_t index = ++tree.groups;
    isClosed.push_back(false);
    if (!called.empty()) {
      for (const auto &[other, number] : tree.names)
        if (other == called)
          fail("redefinition of group name '" + called + "' as group " + std::to_string(index) +
                   "; was group " + std::to_string(number),
               start + 4);
      tree.names.emplace_back(called, index);
    }
    Node node;
    node.kind = Node::Kind::Group;
    node.index = index;
    node.children.push_back(choice());
    close(start);
    isClosed[index] = true;
    return node;
  }

  Node plain(size_t start) {
    Node node;
    node.kind = Node::Kind::Group;
    node.children.push_back(choice());
    close(start);
    return node;
  }

  Node look(size_t start, bool isNegated, bool isBehind, bool isAtomic = false) {
    Node node;
    node.kind = Node::Kind::Look;
    node.isNegated = isNegated, node.isBehind = isBehind, node.isAtomic = isAtomic;
    node.children.push_back(choice());
    close(start);
    return node;
  }

  std::optional<Node> insideGroup(size_t start) {
    if (!take('?'))
      return counted(start, "");
    if (take(':'))
      return plain(start);
    if (takeWord("P<"))
      return counted(start, name('>'));
    if (takeWord("P=")) {
      size_t where = at;
      std::string called = name(')');
      for (const auto &[other, number] : tree.names)
        if (other == called)
          return backReference(number, where);
      fail("unknown group name '" + called + "'", where);
    }
    if (take('#')) {
      while (!atEnd() && peek() != ')')
        ++at;
      if (!take(')'))
        fail("missing ), unterminated comment", start);
      return std::nullopt;
    }
    if (takeWord("=") || takeWord("!"))
      return look(start, text[at - 1] == '!', false);
    if (takeWord("<=") || takeWord("<!"))
      return look(start, text[at - 1] == '!', true);
    if (take('>'))
      return look(start, false, false, true);
    if (take('('))
      throw PatternLimit("conditions on groups, (?(1)...), are not supported in patterns");
    return scopedFlags(start);
  }

  /// (?i-s:…)
  Node scopedFlags(size_t start) {
    uint32_t on = 0, off = 0;
    while (flagOf(peek()))
      on |= flagOf(text[at++]);
    if (on && peek() == ')')
      fail("global flags not at the start of the expression", start);
    if (take('-'))
      while (flagOf(peek()))
        off |= flagOf(text[at++]);
    if (!(on | off) || !take(':'))
      fail(atEnd() ? "unexpected end of pattern" : "unknown extension ?" + shown(at, at + 1),
           atEnd() ? at : start + 1);
    if (on & Regex::Locale)
      fail("bad inline flags: cannot use 'L' flag with a str pattern", at);
    if ((on & off) || (off & (Regex::Ascii | Regex::Unicode)))
      fail("bad inline flags: cannot turn off flags 'a', 'u' and 'L'", at);
    flags = (flags | on) & ~off;
    if (on & Regex::Unicode)
      flags &= ~uint32_t(Regex::Ascii);
    if (on & Regex::Ascii)
      flags &= ~uint32_t(Regex::Unicode);
    return plain(start);
  }
};

} // namespace

PatternTree parsePattern(std::string_view pattern, uint32_t flags) {
  return Parser(pattern, flags).run();
}

} // namespace pellucid::host
