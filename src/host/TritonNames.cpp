// SPDX-License-Identifier: Apache-2.0
/// The kernel language's names as host values: dtypes, built-ins, constexprs.
#include "host/InterpreterState.h"

#include <map>

namespace pellucid::host {

// ---- dtypes
// --------------------------------------------------------------------------------------------------------

struct TritonType {
  std::string_view name;      ///< tl.<name>
  std::string_view shortName; ///< as signatures and str() spell it
  DataType type;
};

static constexpr TritonType tritonTypes[] = {{"int1", "int1", DataType::Bool},
                                             {"int8", "int8", DataType::Int8},
                                             {"int16", "int16", DataType::Int16},
                                             {"int32", "int32", DataType::Int32},
                                             {"int64", "int64", DataType::Int64},
                                             {"uint8", "uint8", DataType::UInt8},
                                             {"uint16", "uint16", DataType::UInt16},
                                             {"uint32", "uint32", DataType::UInt32},
                                             {"uint64", "uint64", DataType::UInt64},
                                             {"float16", "fp16", DataType::Float16},
                                             {"bfloat16", "bf16", DataType::BFloat16},
                                             {"float32", "fp32", DataType::Float32},
                                             {"float64", "fp64", DataType::Float64},
                                             {"float8e4nv", "fp8e4nv", DataType::Float8E4M3FN},
                                             {"float8e5", "fp8e5", DataType::Float8E5M2},
                                             {"float8e4b8", "fp8e4b8", DataType::Float8E4M3FNUZ},
                                             {"float8e5b16", "fp8e5b16", DataType::Float8E5M2FNUZ}};

static const TritonType &tritonType(DataType type) {
  for (const TritonType &t : tritonTypes)
    if (t.type == type)
      return t;
  return tritonTypes[11];
}

std::string DType::repr() const {
  if (family == Family::Torch)
    return "torch." + std::string(info(type).torch);
  std::string name(tritonType(type).shortName);
  return isPointer ? "pointer<" + name + ">" : name;
}

static bool isSignedInteger(DataType t) { return isInteger(t) && info(t).isSigned; }

std::optional<Value> DType::getAttr(Interpreter &, std::string_view name) {
  auto method = [&](Value result) {
    return nativeRaw(std::string(name), [result](Interpreter &, CallArgs) { return result; });
  };
  int64_t bits = type == DataType::Bool ? 1 : int64_t(byteSize(type)) * 8;
  if (family == Family::Torch) {
    if (name == "itemsize")
      return Value(static_cast<int64_t>(byteSize(type)));
    if (name == "is_floating_point")
      return Value(isFloat(type));
    if (name == "is_complex")
      return Value(false);
    if (name == "is_signed")
      return Value(isFloat(type) || isSignedInteger(type));
    return std::nullopt;
  }
  if (name == "element_ty" && isPointer)
    return Value(std::make_shared<DType>(type, Family::Triton));
  if (name == "scalar" || name == "element_ty")
    return Value(shared_from_this());
  if (name == "primitive_bitwidth")
    return Value(bits);
  if (name == "int_bitwidth" && !isPointer && !isFloat(type))
    return Value(bits);
  if ((name == "get_int_max_value" || name == "get_int_min_value") && !isPointer &&
      !isFloat(type)) {
    bool isSigned = isSignedInteger(type);
    Int half = Int(1) << (bits - 1);
    Int most = isSigned ? half - 1 : 2 * half - 1, least = isSigned ? -half : 0;
    return method(Value(name == "get_int_max_value" ? most : least));
  }
  if (name == "is_block" || name == "is_void" || name == "is_const")
    return method(Value(false));
  if (name == "itemsize")
    return Value((bits + 7) / 8);
  if (name == "name")
    return Value(repr());
  if (name == "is_ptr")
    return method(Value(isPointer));
  if (name == "is_floating")
    return method(Value(!isPointer && isFloat(type)));
  if (name == "is_int")
    return method(Value(!isPointer && !isFloat(type)));
  if (name == "is_int_signed")
    return method(Value(!isPointer && isSignedInteger(type)));
  if (name == "is_int_unsigned")
    return method(Value(!isPointer && !isFloat(type) && !isSignedInteger(type)));
  if (name == "is_bool" || name == "is_int1")
    return method(Value(!isPointer && type == DataType::Bool));
  if (name == "is_fp8")
    return method(Value(!isPointer && isFloat(type) && bits == 8));
  if (name == "is_standard_floating")
    return method(Value(!isPointer && isFloat(type) && bits >= 16));
  static const std::map<std::string_view, DataType> predicates = {
      {"is_fp16", DataType::Float16},
      {"is_bf16", DataType::BFloat16},
      {"is_fp32", DataType::Float32},
      {"is_fp64", DataType::Float64},
      {"is_int8", DataType::Int8},
      {"is_int16", DataType::Int16},
      {"is_int32", DataType::Int32},
      {"is_int64", DataType::Int64},
      {"is_uint8", DataType::UInt8},
      {"is_uint16", DataType::UInt16},
      {"is_uint32", DataType::UInt32},
      {"is_uint64", DataType::UInt64},
      {"is_int1", DataType::Bool},
      {"is_fp8e5", DataType::Float8E5M2},
      {"is_fp8e4nv", DataType::Float8E4M3FN},
      {"is_fp8e4b8", DataType::Float8E4M3FNUZ},
      {"is_fp8e5b16", DataType::Float8E5M2FNUZ}};
  if (name == "is_fp8e4b15")
    return method(Value(false));
  if (auto it = predicates.find(name); it != predicates.end())
    return method(Value(!isPointer && type == it->second));
  return std::nullopt;
}

Value DType::call(Interpreter &interpreter, CallArgs) {
  interpreter.refuse("'" + repr() +
                     "(...)' converts inside kernels only; in host code use int() or float()");
}

bool DType::equals(const Object &other) const {
  auto *dtype = dynamic_cast<const DType *>(&other);
  return dtype && dtype->type == type && dtype->family == family && dtype->isPointer == isPointer;
}

std::optional<size_t> DType::hash() const {
  return (size_t(type) << 2) | size_t(isPointer) << 1 | size_t(family == Family::Triton);
}

// ---- built-in names
// ------------------------------------------------------------------------------------------------

/// Sub-modules of triton.language whose names are also names of triton.language itself.
static std::string canonicalBuiltin(std::string_view path) {
  for (std::string_view inner : {"core.", "standard.", "random.", "semantic."})
    if (path.starts_with(inner))
      return "tl." + std::string(path.substr(inner.size()));
  if (size_t at = path.find("libdevice"); at != std::string_view::npos) {
    bool wholePart =
        (at == 0 || path[at - 1] == '.') && (at + 9 == path.size() || path[at + 9] == '.');
    if (wholePart)
      return std::string(path.substr(at));
  }
  return "tl." + std::string(path);
}

Value tritonLanguageName(std::string_view path) {
  std::string name = canonicalBuiltin(path);
  for (const TritonType &t : tritonTypes)
    if (name == "tl." + std::string(t.name))
      return Value(std::make_shared<DType>(t.type, DType::Family::Triton));
  if (name == "tl.CONSTEXPR_0")
    return Value(std::make_shared<Constexpr>(Value(0)));
  return Value(std::make_shared<NamedBuiltin>(std::move(name)));
}

bool isInTriton(const NamedBuiltin &builtin) {
  static const NameSet language = {"PropagateNan",
                                   "TRITON_MAX_TENSOR_NUMEL",
                                   "abs",
                                   "add",
                                   "advance",
                                   "aggregate_replace",
                                   "arange",
                                   "argmax",
                                   "argmin",
                                   "associative_scan",
                                   "assume",
                                   "atomic_add",
                                   "atomic_and",
                                   "atomic_cas",
                                   "atomic_load",
                                   "atomic_max",
                                   "atomic_min",
                                   "atomic_or",
                                   "atomic_poll",
                                   "atomic_store",
                                   "atomic_xchg",
                                   "atomic_xor",
                                   "bfloat16",
                                   "bitonic_merge",
                                   "block_type",
                                   "broadcast",
                                   "broadcast_to",
                                   "builtin",
                                   "cast",
                                   "cat",
                                   "cdiv",
                                   "ceil",
                                   "clamp",
                                   "condition",
                                   "const",
                                   "constexpr",
                                   "constexpr_function",
                                   "constexpr_type",
                                   "core",
                                   "cos",
                                   "cumprod",
                                   "cumsum",
                                   "debug_barrier",
                                   "device_assert",
                                   "device_print",
                                   "div_rn",
                                   "dot",
                                   "dot_scaled",
                                   "dtype",
                                   "erf",
                                   "exp",
                                   "exp2",
                                   "expand_dims",
                                   "extern",
                                   "extra",
                                   "fdiv",
                                   "flip",
                                   "float16",
                                   "float32",
                                   "float64",
                                   "float8e4b15",
                                   "float8e4b8",
                                   "float8e4nv",
                                   "float8e5",
                                   "float8e5b16",
                                   "floor",
                                   "fma",
                                   "full",
                                   "gather",
                                   "get_int_dtype",
                                   "histogram",
                                   "inline_asm_elementwise",
                                   "int1",
                                   "int16",
                                   "int32",
                                   "int64",
                                   "int8",
                                   "interleave",
                                   "is_builtin",
                                   "item",
                                   "join",
                                   "load",
                                   "load_tensor_descriptor",
                                   "log",
                                   "log2",
                                   "make_block_ptr",
                                   "make_tensor_descriptor",
                                   "map_elementwise",
                                   "math",
                                   "max",
                                   "max_constancy",
                                   "max_contiguous",
                                   "maximum",
                                   "min",
                                   "minimum",
                                   "mul",
                                   "multiple_of",
                                   "must_use_result",
                                   "num_programs",
                                   "pair_uniform_to_normal",
                                   "permute",
                                   "philox",
                                   "philox_impl",
                                   "pi32_t",
                                   "pointer_type",
                                   "program_id",
                                   "rand",
                                   "rand4x",
                                   "randint",
                                   "randint4x",
                                   "randn",
                                   "randn4x",
                                   "random",
                                   "range",
                                   "ravel",
                                   "reduce",
                                   "reduce_or",
                                   "reshape",
                                   "rsqrt",
                                   "sigmoid",
                                   "sin",
                                   "slice",
                                   "softmax",
                                   "sort",
                                   "sort_impl",
                                   "split",
                                   "sqrt",
                                   "sqrt_rn",
                                   "squeeze",
                                   "standard",
                                   "static_assert",
                                   "static_print",
                                   "static_range",
                                   "store",
                                   "store_tensor_descriptor",
                                   "str_to_ty",
                                   "sub",
                                   "sum",
                                   "swizzle2d",
                                   "target_info",
                                   "tensor",
                                   "tensor_descriptor",
                                   "tensor_descriptor_base",
                                   "tensor_descriptor_type",
                                   "to_tensor",
                                   "topk",
                                   "trans",
                                   "tuple",
                                   "tuple_type",
                                   "uint16",
                                   "uint32",
                                   "uint64",
                                   "uint8",
                                   "uint_to_uniform_float",
                                   "umulhi",
                                   "unsqueeze",
                                   "view",
                                   "void",
                                   "where",
                                   "xor_sum",
                                   "zeros",
                                   "zeros_like",
                                   "_aggregate",
                                   "builtin_max",
                                   "builtin_min",
                                   "extern_elementwise"};
  static const NameSet math = {"abs",  "ceil",  "core", "cos",   "div_rn",  "erf",
                               "exp",  "exp2",  "fdiv", "floor", "fma",     "log",
                               "log2", "rsqrt", "sin",  "sqrt",  "sqrt_rn", "umulhi"};
  static const NameSet cuda = {"gdc",
                               "gdc_launch_dependents",
                               "gdc_wait",
                               "globaltimer",
                               "libdevice",
                               "num_threads",
                               "num_warps",
                               "smid",
                               "utils",
                               "convert_custom_float8_sm70",
                               "convert_custom_float8_sm80"};
  static const NameSet target = {
      "constexpr_function", "cuda_capability_geq", "current_target", "driver", "is_cuda", "is_hip",
      "is_hip_cdna3",       "is_hip_cdna4",        "is_hip_gfx1250"};
  auto isIn = [&](std::string_view folder, const NameSet &names) -> std::optional<bool> {
    if (!builtin.name.starts_with(folder))
      return std::nullopt;
    std::string rest = builtin.name.substr(folder.size());
    return rest.find('.') != std::string::npos || names.count(rest) != 0;
  };
  static const NameSet devices = {"cuda", "hip", "libdevice"};
  for (auto known :
       {isIn("tl.math.", math), isIn("tl.extra.cuda.", cuda), isIn("tl.extra.", devices),
        isIn("tl.target_info.", target), isIn("tl.", language)})
    if (known)
      return *known;
  return true;
}

std::optional<Value> NamedBuiltin::getAttr(Interpreter &, std::string_view attribute) {
  if (attribute == "__name__")
    return Value(name.substr(name.rfind('.') + 1));
  if (attribute.starts_with("__"))
    return std::nullopt;
  if (name == "tl.core" || name == "tl.standard")
    return tritonLanguageName(attribute);
  if (name.starts_with("tl."))
    return tritonLanguageName(name.substr(3) + "." + std::string(attribute));
  return Value(std::make_shared<NamedBuiltin>(name + "." + std::string(attribute)));
}

/// What `@tl.core.builtin def f(…, _semantic=None)` makes: it drives Triton's own compiler, so a
/// kernel that calls it is refused where it does.
static Value functionOfTheCompiler(Interpreter &interpreter, const std::string &decorator,
                                   const Value &decorated) {
  auto *function = decorated.as<Function>();
  std::string name = function ? function->name : repr(decorated);
  auto reason = std::make_shared<const Diagnostic>(
      Severity::Error, interpreter.location(),
      "'" + name + "' is written against Triton's own compiler (@" + decorator +
          "), which is not here; write it as a @triton.jit function");
  return Value(std::make_shared<Opaque>(name, interpreter.location(), reason));
}

/// tl.core.get_int_dtype(bitwidth, signed), which hosts hand on as a constexpr.
static Value integerType(Interpreter &interpreter, const CallArgs &args) {
  static const Signature signature("bitwidth, signed");
  std::vector<Value> a = signature.bind(interpreter, "tl.get_int_dtype", args);
  Value bits = unwrapConstexpr(a[0]);
  bool isSigned = interpreter.truth(unwrapConstexpr(a[1]));
  for (const TritonType &t : tritonTypes)
    if (!isFloat(t.type) && bits.isInt() &&
        (t.type == DataType::Bool ? bits.integer() == 1
                                  : bits.integer() == 8 * static_cast<int64_t>(byteSize(t.type)) &&
                                        isSigned == !t.name.starts_with("u")))
      return Value(std::make_shared<DType>(t.type, DType::Family::Triton));
  interpreter.raise("ValueError", "Unsupported bitwidth " + interpreter.str(bits) +
                                      " and signedness " + (isSigned ? "True" : "False"));
}

Value NamedBuiltin::call(Interpreter &interpreter, CallArgs args) {
  static const NameSet decorators = {"tl.builtin", "tl.extern", "tl.must_use_result"};
  if (decorators.count(name) && args.positional.size() == 1) {
    if (args.positional[0].as<Function>())
      return functionOfTheCompiler(interpreter, name, args.positional[0]);
    return args.positional[0];
  }
  if (name == "tl.constexpr_function" && args.positional.size() == 1)
    return Value(std::make_shared<ConstexprFunction>(args.positional[0]));
  if (name == "tl.constexpr" && args.positional.size() == 1)
    return Value(std::make_shared<Constexpr>(unwrapConstexpr(args.positional[0])));
  if (name == "tl.get_int_dtype")
    return integerType(interpreter, args);
  if (name == "tl.pointer_type" && !args.positional.empty())
    if (auto *dtype = args.positional[0].as<DType>())
      return Value(std::make_shared<DType>(dtype->type, DType::Family::Triton, true));
  if (name == "tl.dtype" && !args.positional.empty() && args.positional[0].isStr())
    for (const TritonType &t : tritonTypes)
      if (args.positional[0].str() == t.shortName)
        return Value(std::make_shared<DType>(t.type, DType::Family::Triton));
  static const std::map<std::string_view, const char *> ofTriton = {
      {"tl.cdiv", "cdiv"},
      {"tl.next_power_of_2", "next_power_of_2"},
      {"tl._aggregate", "aggregate"},
      {"tl.core._aggregate", "aggregate"}};
  if (auto known = ofTriton.find(name); known != ofTriton.end()) {
    Value triton(interpreter.nativeModule("triton"));
    return interpreter.call(interpreter.getAttr(triton, known->second), std::move(args));
  }
  interpreter.refuse("'" + name + "' works inside @triton.jit functions only");
}

bool NamedBuiltin::equals(const Object &other) const {
  auto *builtin = dynamic_cast<const NamedBuiltin *>(&other);
  return builtin && builtin->name == name;
}

// ---- constexpr
// -----------------------------------------------------------------------------------------------------

Value unwrapConstexpr(const Value &value) {
  if (!value.isObject())
    return value;
  if (auto *c = value.as<Constexpr>())
    return unwrapConstexpr(c->value);
  auto *instance = value.as<Instance>();
  bool isPlain = instance && instance->content &&
                 (instance->content->isInt() || instance->content->isFloat() ||
                  instance->content->isBool() || instance->content->isStr());
  return isPlain ? *instance->content : value;
}

static Value wrap(Value v) { return Value(std::make_shared<Constexpr>(std::move(v))); }

std::optional<Value> Constexpr::getAttr(Interpreter &interpreter, std::string_view name) {
  if (name == "value")
    return value;
  return interpreter.findAttr(value, name);
}
std::optional<Value> Constexpr::binaryOp(Interpreter &interpreter, BinaryOp op, const Value &other,
                                         bool reflected) {
  Value o = unwrapConstexpr(other);
  if (o.isObject() && !o.as<DType>())
    return std::nullopt;
  return wrap(reflected ? interpreter.binary(op, o, value) : interpreter.binary(op, value, o));
}
std::optional<Value> Constexpr::unaryOp(Interpreter &interpreter, UnaryOp op) {
  return wrap(interpreter.unary(op, value));
}
std::optional<Value> Constexpr::compare(Interpreter &interpreter, CompareOp op, const Value &other,
                                        bool) {
  return wrap(interpreter.compare(op, value, unwrapConstexpr(other)));
}
bool Constexpr::truth(Interpreter &interpreter) { return interpreter.truth(value); }
std::optional<Value> Constexpr::getItem(Interpreter &interpreter, const Value &key) {
  return interpreter.getItem(value, unwrapConstexpr(key));
}
Value Constexpr::call(Interpreter &interpreter, CallArgs args) {
  return interpreter.call(value, std::move(args));
}
bool Constexpr::equals(const Object &other) const {
  auto *c = dynamic_cast<const Constexpr *>(&other);
  return c && equal(c->value, value);
}

// ---- opaque
// --------------------------------------------------------------------------------------------------------

void Opaque::refuse(Interpreter &interpreter, std::string_view action) const {
  if (reason) {
    Diagnostic d = *reason;
    d.note(interpreter.location(), "'" + path + "' is " + std::string(action) + " here");
    throw DiagnosticError(std::move(d));
  }
  // A name of a module that is here is lacking; of others nothing is.
  bool isLacking = interpreter.nativeModule(path.substr(0, path.find('.'))) != nullptr;
  Diagnostic d(Severity::Error, interpreter.location(),
               isLacking
                   ? "'" + path + "' is not supported yet; it is " + std::string(action) + " here"
                   : "'" + path + "' cannot be " + std::string(action) +
                         " in host code: nothing of '" + path.substr(0, path.find('.')) +
                         "' is supported; take it out of the traced path, or pass its "
                         "result as an argument");
  if (origin.known() &&
      (origin.file != d.location.file || origin.range.line != d.location.range.line))
    d.note(origin, "it comes from here");
  for (const SourceLocation &site : interpreter.callStack())
    d.note(site, "called from here");
  throw DiagnosticError(std::move(d));
}

std::optional<Value> Opaque::getAttr(Interpreter &, std::string_view name) {
  if (name == "__name__")
    return Value(path);
  return Value(std::make_shared<Opaque>(path + "." + std::string(name), origin, reason));
}

/// While a file is read, its setup may compute with such values; what comes of it stays unusable.
static Value derivedTritonName(Interpreter &interpreter, std::string path, const Opaque &from) {
  return Value(std::make_shared<Opaque>(std::move(path), interpreter.location(), from.reason));
}

Value Opaque::call(Interpreter &interpreter, CallArgs) {
  if (!interpreter.atModuleLevel() || interpreter.options().script)
    refuse(interpreter, "called");
  return derivedTritonName(interpreter, path + "(...)", *this);
}
std::optional<Value> Opaque::getItem(Interpreter &interpreter, const Value &) {
  return derivedTritonName(interpreter, path + "[...]", *this);
}
std::optional<Value> Opaque::binaryOp(Interpreter &interpreter, BinaryOp op, const Value &, bool) {
  if ((!interpreter.atModuleLevel() || interpreter.options().script) && op != BinaryOp::BitOr)
    refuse(interpreter, "computed with");
  return derivedTritonName(interpreter, path, *this);
}
std::optional<Value> Opaque::compare(Interpreter &interpreter, CompareOp op, const Value &other,
                                     bool) {
  auto *opaque = other.as<Opaque>();
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (opaque && equality && opaque->path == path && path.find('(') == std::string::npos)
    return Value(op == CompareOp::Eq);
  refuse(interpreter, "compared");
}
bool Opaque::truth(Interpreter &interpreter) { refuse(interpreter, "branched on"); }
std::optional<std::vector<Value>> Opaque::iterate(Interpreter &interpreter) {
  refuse(interpreter, "iterated");
}
bool Opaque::equals(const Object &other) const {
  auto *opaque = dynamic_cast<const Opaque *>(&other);
  return opaque && opaque->path == path;
}

} // namespace pellucid::host
