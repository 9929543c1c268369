// SPDX-License-Identifier: Apache-2.0
/// The state of one emission and the rules of the kernel language; private to this folder.
#pragma once

#include "frontend/EmitKernel.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace pellucid::frontend {

inline bool isSignedInt(DataType type) { return info(type).isSigned && !isFloat(type); }

/// A type of the kernel language: an element type (with its sign), perhaps a pointer to one,
/// perhaps a tile of them.
struct TlType {
  DataType element = DataType::Int32;
  bool pointer = false;
  std::vector<int64_t> shape; ///< empty: a scalar

  bool isTile() const { return !shape.empty(); }
  bool isFloating() const { return !pointer && isFloat(element); }
  bool isInt() const { return !pointer && !isFloat(element); }
  TlType scalar() const { return {element, pointer, {}}; }
  TlType with(DataType e) const { return {e, false, shape}; }
  bool operator==(const TlType &) const = default;
};
std::string toString(const TlType &type);

/// What an expression is: known while compiling, a value of the kernel, a tuple of both, or an
/// address of a block.
struct Val {
  enum class Kind : uint8_t {
    Constexpr,
    Tensor,
    Tuple,
    BlockPointer,
    Descriptor,
    Undefined
  } kind = Kind::Constexpr;
  host::Value constant;      ///< Constexpr: numbers, strings, None, dtypes, functions, modules …;
                             ///< Undefined: why; Tensor: what a parameter is known to be
  mlir::Value value;         ///< Tensor, BlockPointer, Descriptor
  TlType type;               ///< Tensor; BlockPointer and Descriptor: the block
  std::vector<Val> elements; ///< Tuple
  std::shared_ptr<host::Class> tupleClass; ///< Tuple: the NamedTuple class that names the elements
  std::vector<Val> shape, strides;         ///< Descriptor
  SourceRange range;                       ///< where it was made

  static Val of(host::Value v) {
    Val out;
    out.constant = std::move(v);
    return out;
  }
  static Val tensor(mlir::Value v, TlType t) {
    Val out;
    out.kind = Kind::Tensor;
    out.value = v;
    out.type = std::move(t);
    return out;
  }
  static Val tuple(std::vector<Val> elements) {
    Val out;
    out.kind = Kind::Tuple;
    out.elements = std::move(elements);
    return out;
  }
  static Val named(std::shared_ptr<host::Class> cls, std::vector<Val> elements) {
    Val out = tuple(std::move(elements));
    out.tupleClass = std::move(cls);
    return out;
  }
  static Val undefined(std::string why) {
    Val out = of(host::Value(std::move(why)));
    out.kind = Kind::Undefined;
    return out;
  }
  static Val integer(int64_t v) { return of(host::Value(v)); }
  bool isConstexpr() const { return kind == Kind::Constexpr; }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isTuple() const { return kind == Kind::Tuple; }
  bool isNone() const { return isConstexpr() && constant.isNone(); }
  /// A Python number known while compiling.
  bool isNumber() const {
    return isConstexpr() && (constant.isInt() || constant.isFloat() || constant.isBool());
  }
};

/// Whether it is of a @triton.aggregate class.
bool isAggregate(const Val &value);

/// `x.type` of a tile or of a block pointer, which host::DType has no words for.
class BlockType : public host::Object {
public:
  TlType type;        ///< the tile
  bool behindPointer; ///< the type is a pointer to that tile
  BlockType(TlType t, bool pointer) : type(std::move(t)), behindPointer(pointer) {}
  std::string typeName() const override { return "triton.language.dtype"; }
  std::string repr() const override;
  std::optional<host::Value> getAttr(host::Interpreter &, std::string_view name) override;
  bool equals(const host::Object &other) const override;
};
host::Value typeValue(const TlType &type);

/// Arguments of a call after binding to a built-in's signature: one per parameter.
using Bound = std::vector<Val>;
class Emitter;
inline constexpr int64_t mostTileElements = 1 << 20; ///< of one tile; Triton's own limit
using BuiltinFunction = Val (Emitter::*)(Bound &);

struct Builtin {
  const char *name;      ///< `load`, as in tl.load; methods of tensors share the entry
  const char *signature; ///< `pointer, mask=None, …`; defaults are Python literals
  BuiltinFunction emit;  ///< null: written in the kernel language itself (StandardLibrary.cpp)
};
/// The entry for the last part of a dotted name; null when there is none.
const Builtin *findBuiltin(std::string_view name);
std::vector<std::string> builtinNames();
bool isLibdeviceFunction(std::string_view name);
/// How diagnostics and modules name the file of StandardLibrary.cpp.
inline constexpr std::string_view standardLibraryName = "<triton.language>";
/// The kernel-language definition of a built-in that has one; null otherwise. Shared by all
/// emissions of a thread.
std::shared_ptr<host::JitFunction> standardFunction(std::string_view name);

/// A refusal that stands whatever the kernel's arguments are.
class UnsupportedError : public DiagnosticError {
public:
  using DiagnosticError::DiagnosticError;
};

/// One function being emitted: its names and where it stands.
struct Frame {
  std::shared_ptr<const syntax::Module> module;
  const host::JitFunction *function = nullptr;
  std::map<std::string, Val> names;
  std::map<std::string, Val> arguments; ///< the names at the start; empty for the kernel itself
  Frame *caller = nullptr;
  SourceRange callSite;
  std::set<std::string> constants; ///< names that a bare `name: tl.constexpr` declared
  std::string constructs;          ///< the name of what a constructor of an aggregate is making
  bool isKernel = false;
  bool isStandard = false; ///< of StandardLibrary.cpp: places inside it mean nothing to the user
};

class Emitter {
public:
  Emitter(host::Interpreter &interpreter, mlir::MLIRContext &context, const EmitOptions &options)
      : interpreter(interpreter), context(context), options(options), builder(&context) {}

  mlir::OwningOpRef<mlir::ModuleOp> emit(const host::JitFunction &kernel,
                                         std::span<const ParameterSpec> parameters,
                                         std::vector<EmittedParameter> *emitted);
  /// Makes the kernel's function, whose parameters get their names in the frame.
  void declareKernel(const host::JitFunction &kernel, std::span<const ParameterSpec> parameters,
                     mlir::Location place);
  /// What one parameter is in the kernel; `parts` are the run-time parameters that it became.
  Val parameterValue(mlir::Location place, const ParameterSpec &spec,
                     llvm::ArrayRef<mlir::BlockArgument> parts);

  // --- statements (EmitStatements.cpp)
  // ---------------------------------------------------------------------------
  /// What the statements returned: nothing, or a value. A statement after which nothing runs ends
  /// the list.
  struct Flow {
    bool returned = false;
    Val value;
  };
  using Statements = std::vector<const syntax::Stmt *>;
  Flow statements(const Statements &list);
  Flow statements(const syntax::List<syntax::Stmt> &list);
  /// The effect of one statement; `rest` is what follows it in its list.
  Flow statement(const syntax::Stmt &statement, const Statements &rest);
  void annotatedAssign(const syntax::AnnAssign &assignment);
  void assertStatement(const syntax::Assert &check);
  void assign(const syntax::Expr &target, Val value);
  /// What a name is after `name = value`: a number becomes a value of the kernel, as in Triton.
  Val settled(const Val &value);
  /// The same, but for names that a bare `name: tl.constexpr` declared, which keep constants.
  Val settledFor(const syntax::Expr &target, const Val &value);
  /// At the stop point: prints of all variables that have values there.
  void stopBefore(const syntax::Stmt &statement);
  void printVariable(const std::string &name, const Val &value);
  Flow ifStatement(const syntax::If &branch, const Statements &rest);
  [[noreturn]] void failReturnInLoop(SourceRange range);
  Flow returningIf(const syntax::If &statement, Val condition, const Statements &rest);
  void runtimeIf(const syntax::If &statement, Val condition);
  void forStatement(const syntax::For &statement);
  void whileStatement(const syntax::While &statement);
  Val scalarCondition(Val condition, const char *where, const char *advice);
  std::string rangeName(const syntax::Expr &iter);
  std::vector<Val> rangeArguments(const syntax::Call &call, const std::string &name,
                                  std::map<std::string, Val> &options);
  std::vector<Val> staticRange(const std::vector<Val> &bounds);
  void rangeLoop(const syntax::For &statement, const std::vector<Val> &bounds,
                 const std::map<std::string, Val> &options);
  void unrolledLoop(const syntax::For &statement, const std::vector<Val> &elements);
  /// The body of a loop, from which nothing returns.
  void loopBody(const syntax::List<syntax::Stmt> &body);

  // --- expressions (EmitExpressions.cpp)
  // -------------------------------------------------------------------------
  Val expression(const syntax::Expr &expr);
  Val constant(const syntax::Constant &expr);
  Val name(const syntax::Name &expr);
  Val attribute(const syntax::Attribute &expr);
  Val attributeOf(const Val &object, const std::string &attr);
  Val valueAttribute(const Val &object, const std::string &attr);
  Val formatted(const syntax::JoinedStr &expr);
  Val subscript(const syntax::Subscript &expr);
  Val compare(const syntax::Compare &expr);
  Val boolOp(const syntax::BoolOp &expr);
  Val conditional(const syntax::IfExp &expr);
  Val call(const syntax::Call &expr);
  /// `made`: the call is of a constructor, and takes what its first parameter is at the end.
  Val callFunction(const host::JitFunction &function, std::vector<Val> positional,
                   std::vector<std::pair<std::string, Val>> keywords, SourceRange site,
                   Val *made = nullptr);
  Val callBuiltin(const std::string &name, std::vector<Val> positional,
                  std::vector<std::pair<std::string, Val>> keywords);
  void refuseEndlessCall(const Frame &inner);
  [[noreturn]] void failForeign(const host::Opaque &callee);
  [[noreturn]] void failUnknown(const std::string &shown, const std::string &name);
  Val callLibdevice(const std::string &function, std::vector<Val> &positional,
                    std::vector<std::pair<std::string, Val>> &keywords);
  Val callHost(const host::Value &callee, const std::vector<Val> &positional,
               const std::vector<std::pair<std::string, Val>> &keywords);
  bool hasAttribute(const Val &object, const std::string &attr);
  std::optional<Val> pythonBuiltin(const std::string &name, std::vector<Val> &args,
                                   const std::vector<std::pair<std::string, Val>> &keywords);
  /// What the host evaluator says about constants, at the user's line where it has none.
  Val hostResult(const std::function<host::Value()> &evaluate);
  /// Refuses to write through what the kernel's own annotation calls a pointer to constants.
  void refuseConstant(const Val &pointer);
  Val callValue(const Val &callee, std::vector<Val> positional,
                std::vector<std::pair<std::string, Val>> keywords, SourceRange site);
  /// The value of a condition known while compiling; nullopt for one of the kernel.
  std::optional<bool> constantTruth(const Val &value);

  // --- tuples (EmitTuples.cpp)
  // ---------------------------------------------------------------------------
  std::vector<Val> elementsOf(const syntax::List<syntax::Expr> &list);
  Val comprehension(const syntax::ListComp &expr);
  Val tupleItem(const Val &object, const syntax::Expr &index);
  Val field(const Val &tuple, const std::string &name);
  void unpack(const syntax::List<syntax::Expr> &targets, SourceRange range, const Val &value);
  /// A function as one that calls emit in place: a @triton.jit one, or a method of an aggregate;
  /// null for what has no text.
  std::shared_ptr<host::JitFunction> emittable(const host::Value &function);
  Val construct(const std::shared_ptr<host::Class> &cls, std::vector<Val> positional,
                std::vector<std::pair<std::string, Val>> keywords, SourceRange site);
  void assignField(const syntax::Attribute &target, const Val &value);
  Val asField(const host::Class &cls, size_t i, const Val &value);
  std::optional<Val> methodOf(const Val &value, const std::string &name, bool &self);
  Val replaceFields(std::vector<Val> positional, std::vector<std::pair<std::string, Val>> keywords,
                    SourceRange site);
  std::map<const host::Function *, std::shared_ptr<host::JitFunction>> plainFunctions;
  /// The value that a call of a NamedTuple class makes; nullopt for another callee.
  std::optional<Val> namedTuple(const host::Value &callee, std::vector<Val> &positional,
                                std::vector<std::pair<std::string, Val>> &keywords);
  host::Value toHost(const Val &value, const std::string &what);
  Val fromHost(const host::Value &value);

  // --- the language's rules (Types.cpp, Operators.cpp)
  mlir::Type irType(const TlType &type);
  Val constantOf(double value, int64_t integer, DataType type);
  Val toTensor(const Val &value);
  Val numberAs(const Val &number, DataType type);
  Val cast(const Val &value, DataType to, bool pointer = false,
           std::optional<tt::RoundingMode> rounding = std::nullopt);
  Val bitcast(const Val &value, DataType to, bool pointer);
  Val splat(const Val &scalar, const std::vector<int64_t> &shape);
  Val broadcastTo(const Val &value, const std::vector<int64_t> &shape);
  Val expandDims(const Val &value, int64_t axis);
  void broadcast(Val &a, Val &b);
  Val binary(syntax::Operator op, const Val &a, const Val &b);
  Val comparison(syntax::CmpOperator op, const Val &a, const Val &b);
  Val unary(syntax::UnaryOperator op, const Val &a);
  /// The type a value has as a value of the kernel; numbers are not materialised for it.
  TlType typeOf(const Val &value);
  DataType numberType(const Val &number);
  /// Brings both to the type they are computed in and to one shape. A Python number of a lower or
  /// equal kind takes the other's type.
  void promote(Val &a, Val &b, bool divOrMod, const char *what);
  Val addPointer(const Val &pointer, const Val &offset, bool negate);
  Val divide(Val a, Val b);
  Val bitwise(syntax::Operator op, Val a, Val b);
  std::optional<Val> foldedBinary(syntax::Operator op, const Val &a, const Val &b);
  Val where(const Val &condition, const Val &x, const Val &y);
  Val minimumOrMaximum(const Val &a, const Val &b, bool maximum, bool propagateNan);
  Val truthOf(const Val &value); ///< i1
  template <typename Op> Val elementwise(const Val &a) {
    return Val::tensor(Op::create(builder, loc(), a.value), a.type);
  }
  template <typename Op> Val elementwise(const Val &a, const Val &b) {
    return Val::tensor(Op::create(builder, loc(), a.value, b.value), a.type);
  }

  // --- what several built-ins need
  // -------------------------------------------------------------------------------
  int64_t constantInt(const Val &value, const char *what);
  std::vector<int64_t> constantInts(const Val &value, const char *what);
  bool constantBool(const Val &value, const char *what);
  std::string constantString(const Val &value, const char *what);
  /// A dtype argument: element type and whether it is a pointer type.
  std::pair<DataType, bool> constantType(const Val &value, const char *what);
  std::vector<Val> reduceTuple(std::vector<Val> inputs, const Val &axis, bool keepDims,
                               const Val &combine);
  Val reshapeTo(const Val &value, const std::vector<int64_t> &shape, bool reorder);

  // --- built-ins, by family (EmitMemory.cpp, EmitMath.cpp, EmitReduce.cpp, EmitShape.cpp,
  // EmitForeign.cpp, …)
#define PELLUCID_BUILTIN(method) Val method(Bound &args);
#include "frontend/BuiltinMethods.inc"
#undef PELLUCID_BUILTIN

  [[noreturn]] void fail(const std::string &message);
  [[noreturn]] void failAt(SourceRange range, const std::string &message);
  /// As fail, for what no other arguments of the kernel make right.
  [[noreturn]] void failUnsupported(const std::string &message);
  Diagnostic diagnosticAt(SourceRange range, const std::string &message) const;
  mlir::Location loc();

  host::Interpreter &interpreter;
  mlir::MLIRContext &context;
  const EmitOptions &options;
  mlir::OpBuilder builder;
  HostReads *reads = nullptr; ///< notes what comes from the host program; may be null
  Frame *frame = nullptr;
  SourceRange here;
  unsigned depth = 0;
  unsigned loopDepth = 0;
  uint64_t emittedStatements = 0;
  bool stops = false;      ///< the stop point was met
  unsigned rehearsals = 0; ///< loop bodies under way only to see which names they change
  unsigned combining = 0;  ///< bodies of reductions and scans under way
  std::set<const void *> constantPointers; ///< the kernel's arguments annotated as tl.const
};

} // namespace pellucid::frontend
