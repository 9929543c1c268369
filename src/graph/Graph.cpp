// SPDX-License-Identifier: Apache-2.0
#include "graph/Graph.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>

namespace pellucid::graph {

std::string_view toString(Access access) {
  static constexpr std::string_view names[] = {"none", "read", "write", "readwrite"};
  return names[static_cast<uint8_t>(access)];
}

std::optional<Access> accessNamed(std::string_view text) {
  for (Access a : {Access::None, Access::Read, Access::Write, Access::ReadWrite})
    if (toString(a) == text)
      return a;
  return std::nullopt;
}

//===-- Node ----------------------------------------------------------------------------------===//

const Argument *Node::kwarg(std::string_view name) const {
  for (const auto &[key, argument] : keywords)
    if (key == name)
      return &argument;
  return nullptr;
}

void Node::link() {
  forEachOperand([this](Value *v) {
    assert(v && "a use of no value");
    // The last entry is this node when the value is repeated: uses of one node are made together.
    if (!v->userList.empty() && v->userList.back() == this)
      return;
    uses.emplace_back(v, v->userList.insert(v->userList.end(), this));
  });
}

void Node::unlink() {
  for (auto &[value, place] : uses)
    value->userList.erase(place);
  uses.clear();
}

void Node::setArgs(std::vector<Argument> args) {
  unlink();
  arguments = std::move(args);
  link();
}

void Node::setKwargs(KeywordArguments kwargs) {
  unlink();
  keywords = std::move(kwargs);
  link();
}

void Node::setLaunch(Launch launch) {
  unlink();
  launchInfo = std::make_unique<Launch>(std::move(launch));
  link();
}

void Node::replaceUses(Value *from, Value *to) {
  unlink();
  for (Argument &a : arguments)
    a.replaceValue(from, to);
  for (auto &[name, a] : keywords)
    a.replaceValue(from, to);
  if (launchInfo)
    for (LaunchOperand &o : launchInfo->operands)
      o.value.replaceValue(from, to);
  link();
}

//===-- Graph: order --------------------------------------------------------------------------===//

static constexpr uint64_t orderStep = uint64_t(1) << 32;

Graph::~Graph() {
  for (Node *n = head; n;) {
    Node *next = n->following;
    n->uses.clear();
    delete n;
    n = next;
  }
}

Graph::Graph(Graph &&other) noexcept { *this = std::move(other); }

Graph &Graph::operator=(Graph &&other) noexcept {
  std::swap(head, other.head);
  std::swap(tail, other.tail);
  std::swap(insertion, other.insertion);
  std::swap(lastPlaceholder, other.lastPlaceholder);
  std::swap(count, other.count);
  std::swap(current, other.current);
  byName.swap(other.byName);
  valuesByName.swap(other.valuesByName);
  nextSuffix.swap(other.nextSuffix);
  for (Node *n = head; n; n = n->following)
    n->owner = this;
  for (Node *n = other.head; n; n = n->following)
    n->owner = &other;
  return *this;
}

void Graph::renumber() {
  uint64_t order = 0;
  for (Node *n = head; n; n = n->following)
    n->order = order += orderStep;
}

void Graph::placeInOrder(Node *node) {
  uint64_t low = node->preceding ? node->preceding->order : 0;
  if (!node->following) {
    node->order = low + orderStep;
    return;
  }
  uint64_t high = node->following->order;
  if (high - low < 2)
    return renumber();
  // A placeholder comes after all others, so that the room behind it is for the next ones.
  constexpr uint64_t part = 1024;
  uint64_t room = high - low;
  node->order = low + (node->isPlaceholder() ? std::max<uint64_t>(room / part, 1) : room / 2);
}

Node *Graph::defaultPoint() const { return insertion ? insertion : outputNode(); }

Node *Graph::insert(std::unique_ptr<Node> owned, Node *before) {
  Node *node = owned.release();
  node->owner = this;
  node->following = before;
  node->preceding = before ? before->preceding : tail;
  (node->preceding ? node->preceding->following : head) = node;
  (before ? before->preceding : tail) = node;
  ++count;
  placeInOrder(node);
  return node;
}

void Graph::detach(Node *node) {
  (node->preceding ? node->preceding->following : head) = node->following;
  (node->following ? node->following->preceding : tail) = node->preceding;
  if (insertion == node)
    insertion = node->following;
  if (lastPlaceholder == node)
    lastPlaceholder = node->preceding;
  --count;
}

void Graph::moveBefore(Node *node, Node *before) {
  if (!before)
    before = outputNode();
  if (node == before || node->following == before)
    return;
  detach(node);
  insert(std::unique_ptr<Node>(node), before);
}

//===-- Graph: making nodes -------------------------------------------------------------------===//

void Graph::addResult(Node *node, ResultType type, std::string name) {
  auto value = std::make_unique<Value>();
  value->content = std::move(type);
  value->node = node;
  value->index = static_cast<uint32_t>(node->resultValues.size());
  value->valueName = std::move(name);
  valuesByName[value->valueName] = value.get();
  node->resultValues.push_back(std::move(value));
}

static std::unique_ptr<Node> withLocation(std::unique_ptr<Node> node, const SourceLocation &where) {
  node->location = where;
  return node;
}

Value *Graph::placeholder(std::string_view name, ResultType type) {
  auto owned = withLocation(std::make_unique<Node>(), current);
  owned->op = Opcode::Placeholder;
  // A placeholder may have a name of Python's (`input`), as torch.export's own have.
  std::string text(name);
  owned->nodeName = byName.count(text) || valuesByName.count(text) ? uniqueName(name) : text;
  owned->callee = owned->nodeName;
  Node *node = insert(std::move(owned), lastPlaceholder ? lastPlaceholder->following : head);
  lastPlaceholder = node;
  byName[node->nodeName] = node;
  addResult(node, std::move(type), node->nodeName);
  return node->result();
}

Node *Graph::call(std::string target, std::vector<Argument> args, KeywordArguments kwargs,
                  std::vector<ResultType> results, std::string_view nameHint) {
  auto owned = withLocation(std::make_unique<Node>(), current);
  owned->nodeName = uniqueName(nameHint.empty() ? nameFor(target) : nameHint);
  owned->callee = std::move(target);
  owned->arguments = std::move(args);
  owned->keywords = std::move(kwargs);
  Node *node = insert(std::move(owned), defaultPoint());
  byName[node->nodeName] = node;
  // torch.fx reads the parts of a tuple with getitem nodes; their names are the values' names here.
  if (results.size() == 1)
    addResult(node, std::move(results[0]), node->nodeName);
  else
    for (ResultType &type : results)
      addResult(node, std::move(type), uniqueName("getitem"));
  node->link();
  return node;
}

Node *Graph::launch(Launch launch, std::string_view nameHint) {
  launch.resultOperands.clear();
  for (uint32_t i = 0; i < launch.operands.size(); ++i)
    if (writes(launch.operands[i].access) && launch.operands[i].value.value())
      launch.resultOperands.push_back(i);
  auto owned = withLocation(std::make_unique<Node>(), current);
  owned->nodeName = uniqueName(nameHint.empty() ? launchTarget : nameHint);
  owned->callee = launchTarget;
  Node *node = insert(std::move(owned), defaultPoint());
  byName[node->nodeName] = node;
  for (uint32_t operand : launch.resultOperands)
    // Dotted, so that they never take a name that a later node would have in torch.export.
    addResult(node, launch.operands[operand].value.value()->type(),
              node->nodeName + "." + std::to_string(node->resultCount()));
  node->launchInfo = std::make_unique<Launch>(std::move(launch));
  node->link();
  return node;
}

Value *Graph::addLaunchResult(Node *node, LaunchOperand written) {
  Launch extended = *node->launch();
  TensorType type = written.value.value()->type();
  extended.resultOperands.push_back(static_cast<uint32_t>(extended.operands.size()));
  extended.operands.push_back(std::move(written));
  addResult(node, std::move(type), node->nodeName + "." + std::to_string(node->resultCount()));
  node->setLaunch(std::move(extended));
  return node->resultValues.back().get();
}

Value *Graph::addResult(Node *call, ResultType type) {
  addResult(call, std::move(type), uniqueName("getitem"));
  return call->resultValues.back().get();
}

Node *Graph::output(std::vector<Argument> results) {
  if (Node *old = outputNode()) {
    old->setArgs(std::move(results));
    return old;
  }
  auto owned = withLocation(std::make_unique<Node>(), current);
  owned->op = Opcode::Output;
  owned->nodeName = byName.count("output") ? uniqueName("output") : "output";
  owned->callee = "output";
  owned->arguments = std::move(results);
  Node *node = insert(std::move(owned), nullptr);
  byName[node->nodeName] = node;
  node->link();
  return node;
}

Node *Graph::restore(Opcode opcode, std::string name, std::string target,
                     std::vector<Argument> args, KeywordArguments kwargs,
                     std::vector<std::pair<std::string, ResultType>> results,
                     std::optional<Launch> launch) {
  auto owned = std::make_unique<Node>();
  owned->op = opcode;
  owned->nodeName = std::move(name);
  owned->callee = std::move(target);
  owned->arguments = std::move(args);
  owned->keywords = std::move(kwargs);
  if (launch)
    owned->launchInfo = std::make_unique<Launch>(std::move(*launch));
  if (byName.count(owned->nodeName))
    throw std::invalid_argument("the name '" + owned->nodeName + "' is taken by another node");
  for (const auto &[resultName, type] : results)
    if (valuesByName.count(resultName))
      throw std::invalid_argument("the name '" + resultName + "' is taken by another value");
  Node *node = insert(std::move(owned), nullptr);
  byName[node->nodeName] = node;
  for (auto &[resultName, type] : results)
    addResult(node, std::move(type), std::move(resultName));
  if (opcode == Opcode::Placeholder)
    lastPlaceholder = node;
  node->link();
  return node;
}

//===-- Graph: changing -----------------------------------------------------------------------===//

void Graph::replaceAllUses(Value *from, Value *to) {
  if (from == to)
    return;
  std::vector<Node *> users(from->userList.begin(), from->userList.end());
  for (Node *user : users)
    user->replaceUses(from, to);
}

void Graph::erase(Node *node) {
  for (const auto &result : node->resultValues) {
    assert(result->isUnused() && "erasing a node whose results are used");
    valuesByName.erase(result->valueName);
  }
  node->unlink();
  byName.erase(node->nodeName);
  detach(node);
  delete node;
}

static bool hasUnusedResults(const Node &node) {
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (!node.result(i)->isUnused())
      return false;
  return true;
}

static bool hasUnknownAccess(const Launch &launch) {
  return std::any_of(launch.operands.begin(), launch.operands.end(),
                     [](const LaunchOperand &o) { return o.unknownAccess; });
}

size_t Graph::eraseUnused(const std::function<bool(const Node &)> &isPure) {
  size_t erased = 0;
  for (Node *n = tail; n;) {
    Node *previous = n->preceding;
    bool droppable = n->isLaunch()
                         ? !hasUnknownAccess(*n->launch()) && n->resultCount() > 0 && isPure(*n)
                         : n->isCall() && isPure(*n);
    if (droppable && hasUnusedResults(*n)) {
      erase(n);
      ++erased;
    }
    n = previous;
  }
  return erased;
}

std::vector<Node *> Graph::placeholders() const {
  std::vector<Node *> list;
  for (Node *n = head; n && n->isPlaceholder(); n = n->following)
    list.push_back(n);
  return list;
}

Node *Graph::find(std::string_view name) const {
  auto it = byName.find(std::string(name));
  return it == byName.end() ? nullptr : it->second;
}

Value *Graph::findValue(std::string_view name) const {
  auto it = valuesByName.find(std::string(name));
  return it == valuesByName.end() ? nullptr : it->second;
}

//===-- Graph: names --------------------------------------------------------------------------===//

std::string_view Graph::nameFor(std::string_view target) {
  size_t first = target.find('.');
  if (first == std::string_view::npos)
    return target;
  std::string_view rest = target.substr(first + 1);
  return rest.substr(0, rest.find('.'));
}

/// Names that torch.fx never uses bare: Python's keywords and builtins that operators or users may
/// be called, and its own.
static bool isReservedName(std::string_view name) {
  static const std::unordered_set<std::string_view> names = {
      "False",        "None",       "True",       "and",        "as",        "assert",
      "async",        "await",      "break",      "class",      "continue",  "def",
      "del",          "elif",       "else",       "except",     "finally",   "for",
      "from",         "global",     "if",         "import",     "in",        "is",
      "lambda",       "nonlocal",   "not",        "or",         "pass",      "raise",
      "return",       "try",        "while",      "with",       "yield",     "abs",
      "aiter",        "all",        "anext",      "any",        "ascii",     "bin",
      "bool",         "breakpoint", "bytearray",  "bytes",      "callable",  "chr",
      "classmethod",  "compile",    "complex",    "copyright",  "credits",   "delattr",
      "dict",         "dir",        "divmod",     "enumerate",  "eval",      "exec",
      "exit",         "filter",     "float",      "format",     "frozenset", "getattr",
      "globals",      "hasattr",    "hash",       "help",       "hex",       "id",
      "input",        "int",        "isinstance", "issubclass", "iter",      "len",
      "license",      "list",       "locals",     "map",        "max",       "memoryview",
      "min",          "next",       "object",     "oct",        "open",      "ord",
      "pow",          "print",      "property",   "quit",       "range",     "repr",
      "reversed",     "round",      "set",        "setattr",    "slice",     "sorted",
      "staticmethod", "str",        "sum",        "super",      "tuple",     "type",
      "vars",         "zip",        "inf",        "nan",        "NoneType",  "torch",
      "device",       "fx_pytree",  "pytree"};
  return names.count(name) != 0;
}

std::string Graph::uniqueName(std::string_view hint) {
  std::string base;
  base.reserve(hint.size() + 8);
  for (char c : hint)
    base += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (base.empty())
    base = "_unnamed";
  if (std::isdigit(static_cast<unsigned char>(base[0])))
    base.insert(base.begin(), '_');
  // `linear_1` asks for the next free name of `linear`.
  size_t digits = base.find_last_not_of("0123456789");
  std::string stem = base;
  if (digits != std::string::npos && digits > 0 && digits + 1 < base.size() && base[digits] == '_')
    stem = base.substr(0, digits);
  std::string candidate = base;
  uint32_t &suffix = nextSuffix[stem];
  while (byName.count(candidate) || valuesByName.count(candidate) || isReservedName(candidate))
    candidate = stem + "_" + std::to_string(++suffix);
  return candidate;
}

//===-- Graph: verifying ----------------------------------------------------------------------===//

namespace {
struct GraphVerifier {
  const Graph &graph;
  std::vector<std::string> problems;
  std::unordered_set<const Value *> defined;
  std::unordered_set<std::string_view> nodeNames, valueNames;
  std::vector<std::pair<const Value *, const Node *>> uses{};

  void say(const Node &node, const std::string &what) {
    problems.push_back("node '" + node.name() + "' " + what);
  }

  void checkUses(const Node &node) {
    node.forEachOperand([&](Value *v) {
      if (!v)
        return say(node, "uses no value");
      if (!defined.count(v))
        say(node, "uses '" + v->name() + "' before it is defined");
      uses.emplace_back(v, &node);
    });
  }

  void checkLaunch(const Node &node) {
    const Launch &launch = *node.launch();
    if (launch.variants.empty())
      say(node, "launches nothing: it has no variants");
    if (launch.resultOperands.size() != node.resultCount())
      return say(node, "has " + std::to_string(node.resultCount()) + " results for " +
                           std::to_string(launch.resultOperands.size()) + " written operands");
    size_t next = 0;
    for (uint32_t i = 0; i < launch.operands.size(); ++i) {
      const LaunchOperand &operand = launch.operands[i];
      if (!writes(operand.access) || !operand.value.value())
        continue;
      if (next >= launch.resultOperands.size() || launch.resultOperands[next++] != i)
        return say(node, "has no result for the written operand '" + operand.name + "'");
    }
    if (next != launch.resultOperands.size())
      say(node, "has results for operands that it does not write");
  }

  void checkNode(const Node &node, bool placeholdersOver) {
    if (!nodeNames.insert(node.name()).second)
      say(node, "has a name that another node has");
    if (node.isPlaceholder() && placeholdersOver)
      say(node, "is a placeholder after other nodes");
    if (node.isOutput() && node.next())
      say(node, "is an output that is not last");
    if (node.graph() != &graph)
      say(node, "belongs to another graph");
    if (node.previous() && !node.previous()->isBefore(&node))
      say(node, "is numbered before the node that precedes it");
    checkUses(node);
    if (node.isLaunch())
      checkLaunch(node);
    for (size_t i = 0; i < node.resultCount(); ++i) {
      if (!valueNames.insert(node.result(i)->name()).second)
        say(node, "has a result '" + node.result(i)->name() + "' whose name another value has");
      defined.insert(node.result(i));
    }
  }

  void checkUserLists() {
    std::sort(uses.begin(), uses.end());
    uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
    std::vector<std::pair<const Value *, const Node *>> listed, wrong;
    for (const Value *v : defined)
      for (const Node *user : v->users())
        listed.emplace_back(v, user);
    std::sort(listed.begin(), listed.end());
    std::set_symmetric_difference(uses.begin(), uses.end(), listed.begin(), listed.end(),
                                  std::back_inserter(wrong));
    for (const auto &[value, node] : wrong)
      problems.push_back("value '" + value->name() +
                         "' has a wrong list of users: it disagrees with node '" + node->name() +
                         "'");
  }
};
} // namespace

std::vector<std::string> Graph::verify() const {
  GraphVerifier verifier{*this, {}, {}, {}, {}, {}};
  verifier.defined.reserve(count);
  verifier.nodeNames.reserve(count);
  verifier.valueNames.reserve(count);
  verifier.uses.reserve(2 * count);
  bool placeholdersOver = false;
  for (const Node *n = head; n; n = n->following) {
    verifier.checkNode(*n, placeholdersOver);
    placeholdersOver |= !n->isPlaceholder();
  }
  verifier.checkUserLists();
  return std::move(verifier.problems);
}

//===-- Graph: copying ------------------------------------------------------------------------===//

static Argument mapped(const Argument &argument,
                       const std::unordered_map<const Value *, Value *> &map) {
  if (Value *v = argument.value())
    return Argument(map.at(v));
  const Argument::List *list = argument.list();
  if (!list)
    return argument;
  Argument::List copy;
  for (const Argument &element : *list)
    copy.push_back(mapped(element, map));
  return Argument(std::move(copy));
}

Graph Graph::clone(std::unordered_map<const Value *, Value *> *map) const {
  std::unordered_map<const Value *, Value *> local;
  std::unordered_map<const Value *, Value *> &values = map ? *map : local;
  Graph copy;
  for (const Node *n = head; n; n = n->following) {
    std::vector<Argument> args;
    for (const Argument &a : n->arguments)
      args.push_back(mapped(a, values));
    KeywordArguments kwargs;
    for (const auto &[name, a] : n->keywords)
      kwargs.emplace_back(name, mapped(a, values));
    std::optional<Launch> launch;
    if (n->launchInfo) {
      launch = *n->launchInfo;
      for (LaunchOperand &o : launch->operands)
        o.value = mapped(o.value, values);
    }
    std::vector<std::pair<std::string, ResultType>> results;
    for (const auto &r : n->resultValues)
      results.emplace_back(r->valueName, r->content);
    Node *made = copy.restore(n->op, n->nodeName, n->callee, std::move(args), std::move(kwargs),
                              std::move(results), std::move(launch));
    made->location = n->location;
    made->stackNote = n->stackNote;
    made->body = n->body;
    made->regions = n->regions;
    made->mutatedArgs = n->mutatedArgs;
    for (size_t i = 0; i < n->resultCount(); ++i)
      values[n->result(i)] = made->result(i);
  }
  copy.nextSuffix = nextSuffix;
  return copy;
}

} // namespace pellucid::graph
