// SPDX-License-Identifier: Apache-2.0
// Calls: of helpers (emitted in place), of built-ins, of Python's and the user's host functions.
#include "frontend/Emitter.h"

#include "support/NearNames.h"
#include "support/PlainNumbers.h"

#include <algorithm>
#include <set>

namespace pellucid::frontend {

using Keywords = std::vector<std::pair<std::string, Val>>;

static bool isKernelValue(const Val &value) {
  return value.isTensor() || value.kind == Val::Kind::BlockPointer ||
         value.kind == Val::Kind::Descriptor;
}

Val Emitter::call(const syntax::Call &expr) {
  // A method of a value of the kernel is the built-in of that name with the value as its first
  // argument.
  std::vector<Val> positional;
  Val callee;
  std::string method;
  auto *attr = syntax::as<syntax::Attribute>(expr.func.get());
  if (attr) {
    Val object = expression(*attr->value);
    if (isKernelValue(object)) {
      method = attr->attr == "to" ? "cast" : attr->attr;
      if (object.kind == Val::Kind::Descriptor)
        method = "descriptor_" + method;
      positional.push_back(object);
    } else if (bool takesSelf = false; auto member = isAggregate(object)
                                                         ? methodOf(object, attr->attr, takesSelf)
                                                         : std::nullopt) {
      callee = *member;
      if (takesSelf)
        positional.push_back(object);
    } else {
      callee = attributeOf(object, attr->attr);
    }
  } else {
    callee = expression(*expr.func);
  }
  std::vector<Val> given = elementsOf(expr.args);
  positional.insert(positional.end(), given.begin(), given.end());
  Keywords keywords;
  for (const auto &keyword : expr.keywords) {
    if (!keyword->arg) {
      here = keyword->range;
      failUnsupported("** arguments are not part of the kernel language");
    }
    // What Triton's compiler hands from one of its functions to the next.
    if (*keyword->arg != "_semantic" && *keyword->arg != "_generator")
      keywords.emplace_back(*keyword->arg, expression(*keyword->value));
  }
  here = expr.range;
  if (!method.empty() && !findBuiltin(method))
    fail("a value of type " + toString(positional[0].type) + " has no method '" + attr->attr + "'");
  if (!method.empty())
    return callBuiltin(method, std::move(positional), std::move(keywords));
  return callValue(callee, std::move(positional), std::move(keywords), expr.range);
}

Val Emitter::callValue(const Val &callee, std::vector<Val> positional, Keywords keywords,
                       SourceRange site) {
  if (!callee.isConstexpr())
    fail("this value cannot be called");
  if (auto *jit = callee.constant.as<host::JitFunction>())
    return callFunction(*jit, std::move(positional), std::move(keywords), site);
  if (auto *builtin = callee.constant.as<host::NamedBuiltin>()) {
    if (builtin->name == "tl.aggregate_replace")
      return replaceFields(std::move(positional), std::move(keywords), site);
    if (!builtin->name.starts_with("py."))
      return callBuiltin(builtin->name, std::move(positional), std::move(keywords));
    std::string id = builtin->name.substr(3);
    if (auto result = pythonBuiltin(id, positional, keywords))
      return *result;
    const host::Value *value = interpreter.builtin(id);
    if (!value)
      fail("'" + id + "' is not part of the kernel language");
    return callHost(*value, positional, keywords);
  }
  // tl.float32(x): a number of the compiler's takes the type, a value of the kernel is cast.
  if (auto *type = callee.constant.as<host::DType>(); type &&
                                                      type->family == host::DType::Family::Triton &&
                                                      positional.size() == 1 && keywords.empty())
    return positional[0].isNumber() && !type->isPointer
               ? numberAs(positional[0], type->type)
               : cast(positional[0], type->type, type->isPointer);
  if (auto cls = callee.constant.shared<host::Class>(); cls && cls->find("__aggregate_init__"))
    return construct(cls, std::move(positional), std::move(keywords), site);
  if (auto made = namedTuple(callee.constant, positional, keywords))
    return *made;
  return callHost(callee.constant, positional, keywords);
}

/// A call of what a library defines that is neither here nor beside the file.
void Emitter::failForeign(const host::Opaque &callee) {
  Diagnostic diagnostic =
      callee.reason ? *callee.reason
                    : diagnosticAt(here, "'" + callee.path +
                                             "' is of a library that is not here, so a kernel "
                                             "cannot call it; give its folder with --path");
  if (callee.reason)
    diagnostic.note({frame->module->file, here}, "the kernel calls '" + callee.path + "' here");
  throw UnsupportedError(std::move(diagnostic));
}

/// `float("inf")` and its kin: Python's own conversions of what has no methods of the user's.
static bool convertsPlainValues(const host::Value &callee, const host::CallArgs &args) {
  auto *type = callee.as<host::Class>();
  auto isPlain = [](const host::Value &value) { return !host::unwrapConstexpr(value).isObject(); };
  return type && type->module == "builtins" && type->construct &&
         (type->name == "float" || type->name == "int" || type->name == "bool") &&
         args.keywords.empty() &&
         std::all_of(args.positional.begin(), args.positional.end(), isPlain);
}

Val Emitter::callHost(const host::Value &callee, const std::vector<Val> &positional,
                      const Keywords &keywords) {
  if (auto *opaque = callee.as<host::Opaque>())
    failForeign(*opaque);
  if (callee.as<host::Launcher>())
    failUnsupported("a kernel cannot be launched from a kernel; call it without [grid]");
  host::CallArgs args;
  std::string what = "an argument of " + host::repr(callee) + ", a function of the host,";
  for (const Val &value : positional)
    args.positional.push_back(toHost(value, what));
  for (const auto &[key, value] : keywords)
    args.keywords.emplace_back(key, toHost(value, what));
  args.location = {frame->module->file, here};
  // Functions of the user's read what they like; those of ours give the same for the same.
  if (reads && !frame->isStandard && !callee.as<host::NativeFunction>() &&
      !convertsPlainValues(callee, args))
    reads->unrepeatable();
  return hostResult([&] { return interpreter.call(callee, std::move(args)); });
}

Val Emitter::hostResult(const std::function<host::Value()> &evaluate) {
  try {
    return fromHost(evaluate());
  } catch (DiagnosticError &error) {
    if (!error.diagnostic.location.known() || !error.diagnostic.location.file)
      error.diagnostic.location = {frame->module->file, here};
    throw DiagnosticError(error.diagnostic);
  }
}

/// `isinstance(value, kind)` where the kernel language has an answer of its own.
static std::optional<bool> isInstance(const Val &value, const Val &kind) {
  if (kind.isTuple()) {
    bool any = false;
    for (const Val &one : kind.elements) {
      auto answer = isInstance(value, one);
      if (!answer)
        return std::nullopt;
      any |= *answer;
    }
    return any;
  }
  auto *named = kind.constant.as<host::NamedBuiltin>();
  if (isKernelValue(value))
    return named && named->name == (value.kind == Val::Kind::Descriptor ? "tl.tensor_descriptor"
                                                                        : "tl.tensor");
  if (auto *cls = kind.constant.as<host::Class>(); cls && value.tupleClass)
    return cls->name == "tuple" || value.tupleClass->isSubclassOf(*cls);
  if (!named || !named->name.starts_with("tl."))
    return std::nullopt;
  return (named->name == "tl.constexpr" && value.isConstexpr()) ||
         (named->name == "tl.tuple" && value.isTuple());
}

/// Whether `object.attr` is an attribute, or a method: those are the built-ins of that name.
bool Emitter::hasAttribute(const Val &object, const std::string &attr) {
  static const std::set<std::string_view> ofTiles = {"dtype", "shape", "type", "numel", "T"};
  if (object.isTensor())
    return ofTiles.count(attr) || attr == "to" || (!attr.starts_with("_") && findBuiltin(attr));
  try {
    attributeOf(object, attr);
    return true;
  } catch (const DiagnosticError &) {
    return false;
  }
}

/// Python's functions where they mean something else in a kernel; nullopt leaves the call to the
/// host evaluator.
std::optional<Val> Emitter::pythonBuiltin(const std::string &id, std::vector<Val> &args,
                                          const Keywords &keywords) {
  bool constant = std::all_of(args.begin(), args.end(),
                              [](const Val &v) { return v.isConstexpr() || v.isTuple(); });
  if ((id == "min" || id == "max") && args.size() >= 2 && !constant) {
    Val result = args[0];
    for (size_t i = 1; i < args.size(); ++i)
      result = callBuiltin(id == "max" ? "maximum" : "minimum", {result, args[i]}, keywords);
    return result;
  }
  if (id == "print")
    return callBuiltin("device_print", args, keywords);
  // Python's own functions take their keywords from the host evaluator.
  if (!keywords.empty() && !constant)
    fail("'" + id + "' of values of the kernel has no parameter '" + keywords[0].first + "'");
  if (!keywords.empty())
    return std::nullopt;
  if (id == "hasattr" && args.size() == 2 && args[1].isConstexpr() && args[1].constant.isStr() &&
      (isKernelValue(args[0]) || args[0].isTuple()))
    return Val::of(host::Value(hasAttribute(args[0], args[1].constant.str())));
  if (id == "abs" && args.size() == 1 && args[0].isTensor())
    return callBuiltin("abs", args, {});
  if (id == "len" && args.size() == 1 && args[0].isTuple())
    return Val::integer(static_cast<int64_t>(args[0].elements.size()));
  if (id == "isinstance" && args.size() == 2)
    if (auto answer = isInstance(args[0], args[1]))
      return Val::of(host::Value(*answer));
  if ((id == "int" || id == "float" || id == "bool") && args.size() == 1 && args[0].isTensor())
    fail(id + "() of a value of the kernel is not possible; write x.to(tl." +
         (id == "int"     ? "int32"
          : id == "float" ? "float32"
                          : "int1") +
         ")");
  if (id == "tuple" || id == "list")
    if (args.size() == 1 && args[0].isTuple())
      return args[0];
  if (id == "range" && !constant)
    fail("range() over values of the kernel can only be used in a 'for'");
  for (Val &arg : args)
    if (isKernelValue(arg))
      fail("'" + id + "' is not possible with values of the kernel, got " + toString(arg.type));
  return std::nullopt;
}

/// Whether two calls of one function are given the same constants, so that the inner one would
/// never come to an end.
static bool sameConstants(const std::map<std::string, Val> &a,
                          const std::map<std::string, Val> &b) {
  for (const auto &[name, value] : a) {
    const Val &other = b.at(name);
    if (value.isConstexpr() != other.isConstexpr())
      return false;
    if (value.isConstexpr() && (value.constant.kind() != other.constant.kind() ||
                                !host::equal(value.constant, other.constant)))
      return false;
  }
  return true;
}

/// The parameters of a jit function with what a call gives them.
static std::map<std::string, Val> bindParameters(Emitter &e, const host::JitFunction &function,
                                                 const std::string &shown,
                                                 std::vector<Val> positional, Keywords &keywords) {
  size_t count = 0;
  for (const auto &parameter : function.parameters)
    count += !parameter.keywordOnly;
  std::map<std::string, Val> bound;
  if (!function.rest.empty()) {
    auto others = positional.begin() + static_cast<long>(std::min(count, positional.size()));
    bound[function.rest] = Val::tuple({others, positional.end()});
    positional.erase(others, positional.end());
  }
  if (positional.size() > count)
    e.fail("'" + shown + "' takes " + std::to_string(count) + " arguments, got " +
           std::to_string(positional.size()));
  std::vector<std::string> known;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const auto &parameter = function.parameters[i];
    known.push_back(parameter.name);
    auto given = std::find_if(keywords.begin(), keywords.end(),
                              [&](const auto &k) { return k.first == parameter.name; });
    if (i < positional.size()) {
      bound[parameter.name] = positional[i];
    } else if (given != keywords.end()) {
      bound[parameter.name] = given->second;
      given->first.clear();
    } else if (parameter.defaultValue) {
      bound[parameter.name] = e.fromHost(*parameter.defaultValue);
    } else {
      e.fail("'" + shown + "' needs an argument for '" + parameter.name + "'");
    }
  }
  for (const auto &[key, value] : keywords)
    if (!key.empty())
      e.fail("'" + shown + "' " +
             (function.parameter(key)
                  ? "got two values for '" + key + "'"
                  : "has no parameter '" + key + "'" + suggestName(key, known)));
  return bound;
}

/// Recursion is part of the language only where constants end it.
void Emitter::refuseEndlessCall(const Frame &inner) {
  for (Frame *active = frame; active; active = active->caller)
    if (active->function == inner.function &&
        (depth > 64 || sameConstants(active->arguments, inner.arguments)))
      fail("'" + inner.function->name() +
           "' calls itself; recursion is not part of the kernel language");
}

Val Emitter::callFunction(const host::JitFunction &function, std::vector<Val> positional,
                          Keywords keywords, SourceRange site, Val *made) {
  Frame inner;
  inner.module = function.function->module;
  inner.function = &function;
  inner.caller = frame;
  inner.callSite = site;
  inner.isStandard = inner.module->file->path() == standardLibraryName;
  std::string shown = (inner.isStandard ? "tl." : "") + function.name();
  inner.names = bindParameters(*this, function, shown, positional, keywords);
  inner.arguments = inner.names;
  if (made)
    inner.constructs = function.parameters[0].name;
  refuseEndlessCall(inner);
  Frame *outer = frame;
  SourceRange savedHere = here;
  unsigned savedLoops = loopDepth;
  loopDepth = 0;
  frame = &inner;
  ++depth;
  Flow flow = statements(function.def().body);
  --depth;
  frame = outer;
  here = savedHere;
  loopDepth = savedLoops;
  if (made)
    *made = inner.names.at(inner.constructs);
  return flow.returned ? flow.value : Val();
}

// --- built-ins
// --------------------------------------------------------------------------------------------------------

namespace {

struct Parameter {
  std::string name, fallback; ///< fallback: a Python literal; empty: none
};

/// Splits a signature at its top-level commas.
std::vector<Parameter> parametersOf(std::string_view text) {
  std::vector<Parameter> out;
  std::string word;
  int nesting = 0;
  auto finish = [&] {
    size_t begin = word.find_first_not_of(' ');
    if (begin == std::string::npos)
      return;
    word = word.substr(begin);
    size_t equals = word.find('=');
    out.push_back(
        {word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1)});
    word.clear();
  };
  for (char c : text) {
    nesting += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && nesting == 0)
      finish();
    else
      word += c;
  }
  finish();
  return out;
}

Val literal(const std::string &text) {
  if (text == "None")
    return Val();
  if (text == "True" || text == "False")
    return Val::of(host::Value(text == "True"));
  if (text == "()")
    return Val::tuple({});
  if (text.front() == '"')
    return Val::of(host::Value(text.substr(1, text.size() - 2)));
  if (text.find('.') != std::string::npos) {
    PlainNumbers numbers;
    return Val::of(host::Value(std::stod(text)));
  }
  return Val::integer(std::stoll(text));
}

std::vector<std::string> namesOf(const std::vector<Parameter> &parameters) {
  std::vector<std::string> names;
  for (const Parameter &parameter : parameters)
    names.push_back(parameter.name);
  return names;
}

Bound bindArguments(Emitter &e, const std::string &shown, const std::vector<Parameter> &parameters,
                    std::vector<Val> &positional, Keywords &keywords) {
  Bound bound(parameters.size());
  std::vector<bool> given(parameters.size());
  size_t next = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name[0] == '*') {
      bound[i] =
          Val::tuple({positional.begin() + static_cast<long>(std::min(next, positional.size())),
                      positional.end()});
      given[i] = true;
      next = positional.size();
    } else if (next < positional.size()) {
      bound[i] = positional[next++];
      given[i] = true;
    }
  }
  if (next < positional.size())
    e.fail("'" + shown + "' takes " + std::to_string(parameters.size()) + " arguments, got " +
           std::to_string(positional.size()));
  for (auto &[key, value] : keywords) {
    size_t i = 0;
    while (i < parameters.size() && parameters[i].name != key && parameters[i].name != "*" + key)
      ++i;
    // What Triton passes to itself.
    if (key == "_semantic" || key == "_builder" || key == "_generator")
      continue;
    if (i == parameters.size())
      e.fail("'" + shown + "' has no parameter '" + key + "'" +
             suggestName(key, namesOf(parameters)));
    bool variadic = parameters[i].name[0] == '*';
    if (given[i] && !(variadic && bound[i].elements.empty()))
      e.fail("'" + shown + "' got two values for '" + key + "'");
    bound[i] = variadic && !value.isTuple() ? Val::tuple({value}) : value;
    given[i] = true;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (given[i])
      continue;
    if (parameters[i].fallback.empty())
      e.fail("'" + shown + "' needs an argument for '" + parameters[i].name + "'");
    bound[i] = literal(parameters[i].fallback);
  }
  return bound;
}

} // namespace

Val Emitter::callBuiltin(const std::string &fullName, std::vector<Val> positional,
                         Keywords keywords) {
  std::string shortName = fullName.substr(fullName.rfind('.') + 1);
  std::string shown = fullName.find('.') == std::string::npos ? "tl." + fullName : fullName;
  // Methods and tl.x; libdevice.x is another function of that name. Up to Triton 2, tl.math was
  // libdevice.
  bool isMath = fullName.starts_with("tl.math.");
  if (isMath && (shortName == "max" || shortName == "min"))
    shortName += "imum";
  const Builtin *builtin = findBuiltin(shortName);
  if (fullName.starts_with("libdevice.") || (isMath && !builtin && isLibdeviceFunction(shortName)))
    return callLibdevice(shortName, positional, keywords);
  if (!builtin)
    failUnknown(shown, shortName);
  if (builtin->emit) {
    Bound bound =
        bindArguments(*this, shown, parametersOf(builtin->signature), positional, keywords);
    return (this->*builtin->emit)(bound);
  }
  auto function = standardFunction(shortName);
  if (!function)
    failUnsupported("'" + shown + "' is not supported yet");
  return callFunction(*function, std::move(positional), std::move(keywords), here);
}

void Emitter::failUnknown(const std::string &shown, const std::string &name) {
  static const char *later[] = {"num_warps", "num_threads", "_experimental_descriptor_load",
                                "_experimental_descriptor_store"};
  if (std::any_of(std::begin(later), std::end(later), [&](const char *n) { return name == n; }))
    failUnsupported("'" + shown + "' is not supported yet");
  if (isLibdeviceFunction(name))
    failUnsupported("the kernel language has no '" + shown + "'; write libdevice." + name +
                    ", from triton.language.extra");
  failUnsupported("the kernel language has no '" + shown + "'" + suggestName(name, builtinNames()));
}

// --- constant arguments
// -----------------------------------------------------------------------------------------------

static std::string describeGiven(const Val &value) {
  if (isKernelValue(value) || value.isTuple())
    return value.isTuple() ? "a tuple" : toString(value.type);
  std::string text = host::repr(value.constant);
  return text.substr(text.starts_with("py.") ? 3 : 0);
}

/// What to do about a parameter of the kernel that must be a constant.
static std::string constexprAdvice(const Val &value) {
  auto argument = dyn_cast_or_null<mlir::BlockArgument>(value.value);
  auto name = argument ? dyn_cast<mlir::NameLoc>(argument.getLoc()) : mlir::NameLoc();
  return name ? "; annotate the parameter: " + name.getName().str() + ": tl.constexpr" : "";
}

int64_t Emitter::constantInt(const Val &value, const char *what) {
  if (value.isConstexpr() && value.constant.isBool())
    return value.constant.boolean();
  if (value.isConstexpr() && value.constant.isInt())
    return static_cast<int64_t>(value.constant.integer());
  fail(std::string(what) + " must be an integer known while compiling, got " +
       describeGiven(value) + constexprAdvice(value));
}

std::vector<int64_t> Emitter::constantInts(const Val &value, const char *what) {
  if (!value.isTuple())
    return {constantInt(value, what)};
  std::vector<int64_t> out;
  for (const Val &element : value.elements)
    out.push_back(constantInt(element, what));
  return out;
}

bool Emitter::constantBool(const Val &value, const char *what) {
  auto known = constantTruth(value);
  if (!known)
    fail(std::string(what) + " must be known while compiling, got " + describeGiven(value) +
         constexprAdvice(value));
  return *known;
}

std::string Emitter::constantString(const Val &value, const char *what) {
  if (value.isConstexpr() && value.constant.isStr())
    return value.constant.str();
  fail(std::string(what) + " must be a string known while compiling, got " + describeGiven(value));
}

std::pair<DataType, bool> Emitter::constantType(const Val &value, const char *what) {
  if (value.isConstexpr()) {
    if (auto *type = value.constant.as<host::DType>();
        type && type->family == host::DType::Family::Triton)
      return {type->type, type->isPointer};
    if (auto *block = value.constant.as<BlockType>(); block && !block->behindPointer)
      return {block->type.element, block->type.pointer};
    if (value.constant.isStr())
      if (auto named = dataTypeNamed(value.constant.str()))
        return {*named, false};
  }
  auto *type = value.isConstexpr() ? value.constant.as<host::DType>() : nullptr;
  fail(std::string(what) + " must be an element type such as tl.float32, got " +
       describeGiven(value) + (type ? "; write tl." + std::string(info(type->type).torch) : ""));
}

} // namespace pellucid::frontend
