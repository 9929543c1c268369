// SPDX-License-Identifier: Apache-2.0
/// Runs the host side of a user's file: modules, functions, classes, closures. It is no general
/// Python; what it lacks is refused with line, caret and what to write instead.
#pragma once

#include "host/Kernel.h"
#include "host/Objects.h"
#include "host/Value.h"

#include <map>
#include <set>

namespace pellucid::host {

/// Questions only the embedder can answer. The defaults refuse with a diagnostic.
class HostHooks {
public:
  virtual ~HostHooks() = default;
  /// Whether a condition over dynamic dimensions holds (a branch, an assertion): by the hint, or by
  /// proof.
  virtual bool decide(Interpreter &, const symbolic::Expr &condition, const SourceLocation &where);
  /// Whether both sides of a branch on `condition` may become one value with a selection in it;
  /// else decide() is asked.
  virtual bool merges(const symbolic::Expr &) { return false; }
  /// Whether an assertion of `test` is made when the program runs, and fails with `message` then:
  /// it is about what a tensor holds.
  virtual bool assertsLater(Interpreter &, const Value &, const std::function<std::string()> &) {
    return false;
  }
  /// `kernel[grid](args…)`. `kernel` is a JitFunction, Autotuner or Heuristics.
  virtual Value launch(Interpreter &, const Value &kernel, const Value &grid, CallArgs args,
                       bool wrapped);
  /// A call of a triton_op or custom_op.
  virtual Value callOperator(Interpreter &, const std::shared_ptr<Operator> &op, CallArgs args);
  /// A block whose exceptions are handled begins or ends, or a script is about to be heard of: what
  /// has been put off and may fail, fails now.
  virtual void settle(Interpreter &) {}
  /// Text that print() and logging write; dropped by default.
  virtual void output(std::string_view) {}
  /// What a script writes to sys.stderr; and what it has written so far goes out.
  virtual void errorOutput(std::string_view) {}
  virtual void flushOutput() {}
  virtual void warn(Diagnostic) {}
};

/// Modules implemented in C++, by dotted name. `fill` runs once per interpreter, at the first
/// import.
class NativeModules {
public:
  using Fill = std::function<void(Interpreter &, Module &)>;
  /// Adds to the fillers of `name` when there are some already (torch's dtypes are here, its
  /// functions elsewhere).
  void add(const std::string &name, Fill fill) { fillers[name].push_back(std::move(fill)); }
  /// Adds all of `others` behind what is here.
  void append(const NativeModules &others);
  const std::vector<Fill> *find(const std::string &name) const;
  std::vector<std::string> names() const;
  bool
  hasPrefix(const std::string &name) const; ///< some module's name is `name` or starts with `name.`

private:
  std::map<std::string, std::vector<Fill>> fillers;
};

/// A whole program that is run as Python would: it sees its arguments, files, the time and the
/// environment, and nothing that it does is counted.
struct ScriptOptions {
  std::vector<std::string> arguments; ///< sys.argv
};

struct InterpreterOptions {
  std::vector<std::string>
      searchRoots;                ///< for absolute imports, after the importing file's own folder
  uint32_t maxDepth = 200;        ///< nested calls
  uint64_t maxSteps = 20'000'000; ///< see Budget; of all that is evaluated
  uint64_t maxBytes = 2'000'000'000; ///< of the values that live at one time
  /// maxSteps holds for each outermost call by itself, not for all of them together.
  bool budgetPerCall = false;
  HostHooks *hooks = nullptr; ///< outlives the interpreter
  NativeModules modules;      ///< beside and over the evaluator's own
  /// A statement of a file's top level that is refused makes the names it would bind unusable, and
  /// reading goes on; the refusal is thrown when such a name is used. Public files set up much that
  /// what is traced never needs.
  bool defersFileErrors = false;
  /// With defersFileErrors: an import that fails is such a statement too, as where one file of a
  /// package is read alone; a `raise` at the first file's top level is passed over.
  bool defersMissingImports = false;
  /// Set for exec; without it a file is read for what is in it, and may ask for nothing.
  std::optional<ScriptOptions> script;
};

/// An exception of the user's program or of Python's own operations; `except` clauses see it.
/// Uncaught, it is an ordinary diagnostic. A refusal ("not supported") is a plain DiagnosticError,
/// which no `except` catches.
class RaisedError : public DiagnosticError {
public:
  Value exception; ///< an Instance of an exception class
  RaisedError(Diagnostic d, Value e) : DiagnosticError(std::move(d)), exception(std::move(e)) {}
};

/// Where an exception was raised, outermost call first: `__traceback__` of a script's exceptions.
class Traceback : public Object {
public:
  struct Entry {
    SourceLocation where;
    std::string function; ///< `<module>` for a file's top level
    size_t level = 0;     ///< how many calls are around it
  };
  std::vector<Entry> entries;
  /// Where the exception is handled: the calls around that are not part of it.
  size_t handledAt = 0;
  std::string typeName() const override { return "traceback"; }
};

class Interpreter {
public:
  explicit Interpreter(InterpreterOptions options = {});
  ~Interpreter();
  Interpreter(const Interpreter &) = delete;
  Interpreter &operator=(const Interpreter &) = delete;

  /// The one that runs on this thread, the innermost; null outside of all.
  static Interpreter *active();

  /// Runs the file as a module (`__name__` is its stem, so `if __name__ == "__main__"` is false).
  /// Again: the same module.
  std::shared_ptr<Module> importFile(const std::string &path);
  /// Runs the file as Python runs a script: `__name__` is "__main__".
  std::shared_ptr<Module> runScript(const std::string &path);
  std::shared_ptr<Module> importSource(const std::string &name,
                                       std::shared_ptr<const SourceFile> file);
  /// For every file that was run: its path, and what it is called below the packages around it
  /// (`kernels.py`, `ops/silu.py`), wherever it lies.
  std::map<std::string, std::string> sourceNames() const;
  /// `import name` from nowhere in particular (tests, options).
  Value importModule(const std::string &name);
  /// Evaluates an expression text with builtins alone: an `--init` literal, a string annotation.
  Value evaluateText(std::shared_ptr<const SourceFile> text,
                     const std::shared_ptr<Module> &globalsOf = nullptr);
  /// Evaluates an expression of a kernel or function in a scope (parameter annotations, decorator
  /// arguments).
  Value evaluate(const syntax::Expr &expr, const std::shared_ptr<Scope> &scope);

  // Python's operations. Each raises as Python does, at the current location.
  Value call(const Value &callee, CallArgs args);
  Value call(const Value &callee, std::vector<Value> positional = {});
  Value getAttr(const Value &object, std::string_view name);
  std::optional<Value> findAttr(const Value &object, std::string_view name);
  void setAttr(const Value &object, std::string_view name, const Value &value);
  Value getItem(const Value &object, const Value &key);
  void setItem(const Value &object, const Value &key, const Value &value);
  void delItem(const Value &object, const Value &key);
  Value binary(BinaryOp op, const Value &a, const Value &b);
  Value unary(UnaryOp op, const Value &a);
  Value compare(CompareOp op, const Value &a, const Value &b);
  bool contains(const Value &container, const Value &item);
  /// `item in container`: a bool, or a condition over dynamic sizes.
  Value membershipOf(const Value &container, const Value &item);
  bool truth(const Value &value);
  bool equals(const Value &a, const Value &b) { return truth(compare(CompareOp::Eq, a, b)); }
  Value length(const Value &value);
  std::vector<Value> iterate(const Value &value);
  std::string str(const Value &value);
  std::string repr(const Value &value);
  std::string format(const Value &value, std::string_view spec);
  Value typeOf(const Value &value);
  bool isInstance(const Value &value, const Value &classOrTuple);

  // Conversions with Python's rules and messages; `what` names the argument.
  int64_t toInt64(const Value &value, std::string_view what);
  double toDouble(const Value &value, std::string_view what);
  const std::string &toStr(const Value &value, std::string_view what);
  /// An int or SymInt.
  symbolic::Expr toExpr(const Value &value, std::string_view what);

  const std::shared_ptr<Class> &
  builtinClass(std::string_view name) const; ///< "ValueError", "int", …
  const Value *builtin(std::string_view name) const;
  std::shared_ptr<Module>
  nativeModule(const std::string &name); ///< null when there is none of that name

  /// The same without making it: null when nothing has asked for it yet.
  std::shared_ptr<Module> loadedModule(const std::string &name) const;

  /// The place being evaluated, for diagnostics and recorded nodes.
  SourceLocation location() const;
  /// What location() is while no text is evaluated: the place of whoever calls functions from
  /// outside.
  void setOutside(SourceLocation where);
  /// The calls under way, innermost first: where each call stands.
  std::vector<SourceLocation> callStack() const;
  /// The same with the names of the functions, outermost first. Parts of ours are left out.
  std::shared_ptr<Traceback> traceback() const;
  /// Python's text of an uncaught exception, with those that it was raised from or while handling.
  std::string tracebackText(const Value &exception);
  /// Where the last refusal of a script was said; null when there was none.
  std::shared_ptr<Traceback> refusedAt() const;
  /// Of a signal handler: the script gets a KeyboardInterrupt at its next step; false when it has
  /// not got the last one yet.
  bool interrupt() noexcept;
  /// Refuses what the program asks for; `except` does not catch it. Notes name the calls that led
  /// here.
  [[noreturn]] void refuse(std::string message) const;
  [[noreturn]] void refuse(const SourceLocation &where, std::string message) const;
  /// Raises a Python exception of the named builtin class.
  [[noreturn]] void raise(std::string_view className, std::string message);
  /// Whether what is raised here may be handled by a `try` or a context around.
  bool isTrying() const;
  /// KeyError of that key.
  [[noreturn]] void raiseKey(const Value &key);
  /// True while a side of a branch is evaluated that may not be taken: nothing may be recorded.
  bool merging() const;
  /// True while a module's top level runs and no function does.
  bool atModuleLevel() const;

  HostHooks &hooks();
  const InterpreterOptions &options() const;
  const Budget &budget() const;
  /// Operators declared so far, by "ns::name".
  std::map<std::string, std::shared_ptr<Operator>> operators;
  /// Who is asked before an operator is called: modes, the innermost last, and the classes of its
  /// tensors.
  struct Dispatch {
    std::vector<Value> modes, functionModes;
    bool hasSubclasses = false;     ///< a tensor of a user's class was made
    bool functionsDisabled = false; ///< inside of torch.Tensor.__torch_function__
    /// torch.autocast: whether it is enabled for a kind of device, and its type.
    std::map<std::string, std::pair<bool, DataType>> autocast;
    unsigned autocastHandled = 0;           ///< inside of operators that it has seen to
    std::map<std::string, Value> overloads; ///< torch.ops.aten.add.Tensor …, each made once
    /// The result in place of the operator's; set by whoever has tensors.
    std::function<std::optional<Value>(Interpreter &, const Value &overload, const CallArgs &)>
        intercept;
    std::function<Value(Interpreter &, const std::string &)> overloadNamed;
    bool isIdle() const { return modes.empty() && functionModes.empty() && !hasSubclasses; }
  } dispatch;
  /// Whether wrap_triton() wraps; set_wrap_triton_enabled() says so for this interpreter's thread.
  bool wrapsTriton = true;
  /// Namespaces of torch.library.Library(…, "DEF").
  std::set<std::string> definedLibraries;
  /// What the `raise` statements say that InterpreterOptions::defersMissingImports passed over.
  const std::vector<Diagnostic> &passedRaises() const;
  /// Modules run so far, in order of import.
  std::vector<std::shared_ptr<Module>> modules() const;

  struct State;
  State &state() { return *impl; }

private:
  std::unique_ptr<State> impl;
  void finaliseMain();
};

} // namespace pellucid::host
