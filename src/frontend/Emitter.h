// SPDX-License-Identifier: Apache-2.0
/// The state of one emission and the rules of the kernel language; private to this folder.
#pragma once

#include "frontend/EmitKernel.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <map>
#include <optional>

namespace pellucid::frontend {

/// A type of the kernel language: an element type (with its sign), perhaps a pointer to one, perhaps a tile of them.
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

/// What an expression is: known while compiling, a value of the kernel, a tuple of both, or an address of a block.
struct Val {
  enum class Kind : uint8_t { Constexpr, Tensor, Tuple, BlockPointer, Descriptor } kind = Kind::Constexpr;
  host::Value constant;            ///< Constexpr: numbers, strings, None, dtypes, functions, modules …
  mlir::Value value;               ///< Tensor, BlockPointer, Descriptor
  TlType type;                     ///< Tensor; BlockPointer and Descriptor: the block
  std::vector<Val> elements;       ///< Tuple
  std::vector<Val> shape, strides; ///< Descriptor
  SourceRange range;               ///< where it was made

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
  bool isConstexpr() const { return kind == Kind::Constexpr; }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isTuple() const { return kind == Kind::Tuple; }
  bool isNone() const { return isConstexpr() && constant.isNone(); }
  /// A Python number known while compiling.
  bool isNumber() const {
    return isConstexpr() && (constant.isInt() || constant.isFloat() || constant.isBool());
  }
};

/// Arguments of a call after binding to a built-in's signature: one per parameter.
using Bound = std::vector<Val>;
class Emitter;
using BuiltinFunction = Val (Emitter::*)(Bound &);

struct Builtin {
  const char *name;      ///< `load`, as in tl.load; methods of tensors share the entry
  const char *signature; ///< `pointer, mask=None, …`; defaults are Python literals
  BuiltinFunction emit;
};
/// The entry for the last part of a dotted name; null when there is none.
const Builtin *findBuiltin(std::string_view name);

/// One function being emitted: its names and where it stands.
struct Frame {
  std::shared_ptr<const syntax::Module> module;
  const host::JitFunction *function = nullptr;
  std::map<std::string, Val> names;
  Frame *caller = nullptr;
  SourceRange callSite;
  bool isKernel = false;
};

class Emitter {
public:
  Emitter(host::Interpreter &interpreter, mlir::MLIRContext &context)
      : interpreter(interpreter), context(context), builder(&context) {}

  mlir::OwningOpRef<mlir::ModuleOp> emit(const host::JitFunction &kernel, std::span<const ParameterSpec> parameters,
                                         std::vector<EmittedParameter> *emitted);

  // --- statements (EmitStatements.cpp) ---------------------------------------------------------------------------
  /// What the statements returned: nothing, or a value. A statement after which nothing runs ends the list.
  struct Flow {
    bool returned = false;
    Val value;
  };
  using Statements = std::vector<const syntax::Stmt *>;
  Flow statements(const Statements &list);
  void assign(const syntax::Expr &target, Val value);
  Flow ifStatement(const syntax::If &statement, const Statements &rest);
  Flow returningIf(const syntax::If &statement, Val condition, const Statements &rest);
  void runtimeIf(const syntax::If &statement, Val condition);
  void forStatement(const syntax::For &statement);
  void whileStatement(const syntax::While &statement);
  void rangeLoop(const syntax::For &statement, const std::vector<Val> &bounds, const std::map<std::string, Val> &options);

  // --- expressions (EmitExpressions.cpp) -------------------------------------------------------------------------
  Val expression(const syntax::Expr &expr);
  Val name(const syntax::Name &expr);
  Val attribute(const syntax::Attribute &expr);
  Val attributeOf(const Val &object, const std::string &attr, const syntax::Expr &expr);
  Val subscript(const syntax::Subscript &expr);
  Val compare(const syntax::Compare &expr);
  Val boolOp(const syntax::BoolOp &expr);
  Val conditional(const syntax::IfExp &expr);
  Val call(const syntax::Call &expr);
  Val callFunction(const host::JitFunction &function, std::vector<Val> positional,
                   std::vector<std::pair<std::string, Val>> keywords, SourceRange site);
  Val callBuiltin(const std::string &name, std::vector<Val> positional, std::vector<std::pair<std::string, Val>> keywords);
  Val callHost(const host::Value &callee, const std::vector<Val> &positional,
               const std::vector<std::pair<std::string, Val>> &keywords);
  Val pythonBuiltin(const std::string &name, std::vector<Val> &args, const syntax::Call &expr, bool &known);
  host::Value toHost(const Val &value, const std::string &what);
  Val fromHost(const host::Value &value);
  /// The value of a condition known while compiling; nullopt for one of the kernel.
  std::optional<bool> constantTruth(const Val &value);

  // --- the language's rules (Semantics.cpp) ----------------------------------------------------------------------
  mlir::Type irElement(DataType type);
  mlir::Type irType(const TlType &type);
  Val constantOf(double value, int64_t integer, DataType type);
  Val toTensor(const Val &value);
  Val numberAs(const Val &number, DataType type);
  Val cast(const Val &value, DataType to, bool pointer = false, std::optional<tt::RoundingMode> rounding = std::nullopt);
  Val bitcast(const Val &value, DataType to, bool pointer);
  Val splat(const Val &scalar, const std::vector<int64_t> &shape);
  Val broadcastTo(const Val &value, const std::vector<int64_t> &shape);
  Val expandDims(const Val &value, int64_t axis);
  void broadcast(Val &a, Val &b);
  Val binary(syntax::Operator op, const Val &a, const Val &b);
  Val comparison(syntax::CmpOperator op, const Val &a, const Val &b);
  Val unary(syntax::UnaryOperator op, const Val &a);
  void promote(Val &a, Val &b, bool divOrMod, const char *what);
  Val where(const Val &condition, const Val &x, const Val &y);
  Val minimumOrMaximum(const Val &a, const Val &b, bool maximum, bool propagateNan);
  Val truthOf(const Val &value); ///< i1
  Val addPointer(const Val &pointer, const Val &offset, bool negate);
  template <typename Op> Val elementwise(const Val &a) { return Val::tensor(Op::create(builder, loc(), a.value), a.type); }
  template <typename Op> Val elementwise(const Val &a, const Val &b) {
    return Val::tensor(Op::create(builder, loc(), a.value, b.value), a.type);
  }

  // --- what several built-ins need -------------------------------------------------------------------------------
  int64_t constantInt(const Val &value, const char *what);
  std::vector<int64_t> constantInts(const Val &value, const char *what);
  bool constantBool(const Val &value, const char *what);
  std::string constantString(const Val &value, const char *what);
  /// A dtype argument: element type and whether it is a pointer type.
  std::pair<DataType, bool> constantType(const Val &value, const char *what);
  Val floatArgument(const Val &value, const char *what);
  Val reduceWith(const Val &input, const Val &axis, bool keepDims, const std::function<Val(Val, Val)> &combine);
  std::vector<Val> reduceTuple(std::vector<Val> inputs, std::optional<int64_t> axis, bool keepDims,
                               const std::function<std::vector<Val>(std::vector<Val>, std::vector<Val>)> &combine);
  std::vector<Val> scanTuple(std::vector<Val> inputs, int64_t axis, bool reverse,
                             const std::function<std::vector<Val>(std::vector<Val>, std::vector<Val>)> &combine);
  Val reshapeTo(const Val &value, const std::vector<int64_t> &shape, bool reorder);

  // --- built-ins, by family (EmitMemory.cpp, EmitMath.cpp, EmitReduce.cpp, EmitShape.cpp, EmitGrid.cpp) ------------
#define PELLUCID_BUILTIN(method) Val method(Bound &args);
#include "frontend/BuiltinMethods.inc"
#undef PELLUCID_BUILTIN

  [[noreturn]] void fail(const std::string &message);
  [[noreturn]] void failAt(SourceRange range, const std::string &message);
  mlir::Location loc();

  host::Interpreter &interpreter;
  mlir::MLIRContext &context;
  mlir::OpBuilder builder;
  Frame *frame = nullptr;
  SourceRange here;
  unsigned depth = 0;
  unsigned loopDepth = 0;
};

} // namespace pellucid::frontend
