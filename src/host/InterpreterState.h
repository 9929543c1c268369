// SPDX-License-Identifier: Apache-2.0
/// What the files of the evaluator share and nobody else sees.
#pragma once

#include "host/CollectCycles.h"
#include "host/Interpreter.h"

#include <map>
#include <unordered_map>

namespace pellucid::host {

using NameSet = std::set<std::string, std::less<>>;

/// What a function's text says about its names.
struct ScopeFacts {
  NameSet locals, globals, nonlocals;
  NameSet frees; ///< read from the scopes around
  NameSet cells; ///< locals that what is made in it reads, later than it runs
  bool isGenerator = false;
};

struct Frame {
  const Function *function = nullptr; ///< null at a module's top level and in evaluateText
  std::shared_ptr<Scope> scope;
  SourceLocation callSite;
};

struct Interpreter::State {
  explicit State(InterpreterOptions o)
      : options(std::move(o)), budget(options.maxSteps, options.maxBytes) {}
  InterpreterOptions options;
  Budget budget;
  HostHooks refusingHooks;
  std::vector<Frame> frames;
  const syntax::Module *module = nullptr; ///< the text being evaluated …
  const syntax::Node *node = nullptr;     ///< … and the place in it
  SourceLocation outside;                 ///< see Interpreter::setOutside
  uint32_t depth = 0;                     ///< nested evaluations, natives included

  Namespace builtins;
  std::map<std::string, std::shared_ptr<Class>, std::less<>> classes;
  std::map<std::string, std::shared_ptr<Module>> natives;
  std::map<std::string, std::shared_ptr<Module>> files; ///< by canonical path
  std::vector<std::shared_ptr<Module>> order;
  std::unordered_map<const void *, std::unique_ptr<ScopeFacts>> facts;
  std::vector<syntax::Ptr<syntax::Expr>> ownedExprs;               ///< of evaluateText
  std::vector<std::shared_ptr<const syntax::Module>> ownedModules; ///< keeps trees alive
  CycleCollector cycles;
  std::vector<std::weak_ptr<Class>> madeClasses;
  std::vector<std::shared_ptr<JitFunction>> kernels; ///< every kernel made, in order
  /// The first one made of each `def`.
  std::unordered_map<const void *, std::shared_ptr<JitFunction>> kernelsByText;
  std::vector<Diagnostic> passedRaises; ///< see Interpreter::passedRaises
  uint32_t merging = 0;                 ///< evaluating a side of a branch that may not be taken
  uint32_t importGuards = 0;            ///< inside `try: import … except ImportError`
  uint32_t importDepth = 0;             ///< files whose top level is being run
  uint32_t triedAround = 0;             ///< blocks around whose exceptions may be handled
  std::vector<const RaisedError *> handling;
  std::set<class Iterator *> suspended; ///< generators that were left at a `yield`
  Value sent;                           ///< what generator.send() gave
  std::optional<RaisedError> thrown;    ///< what generator.throw() raises at the `yield`
  std::shared_ptr<Traceback> refusedAt; ///< of a script

  /// Notes what a function or class made in `scope` keeps alive: that scope and those around it.
  void capture(const std::shared_ptr<Scope> &scope);
  const ScopeFacts &factsOf(const void *key, const syntax::Arguments *args,
                            const syntax::List<syntax::Stmt> &body);
  const ScopeFacts &factsOfLambda(const syntax::Lambda &lambda);
  const ScopeFacts &factsOfComprehension(const void *key,
                                         const std::vector<syntax::Comprehension> &generators);
  const ScopeFacts &factsOfClass(const syntax::ClassDef &def);
  const ScopeFacts &factsOf(const Function &function);
};

/// While it lives, `interpreter` is Interpreter::active().
class ActiveScope {
public:
  explicit ActiveScope(Interpreter &interpreter);
  ~ActiveScope();
  ActiveScope(const ActiveScope &) = delete;

private:
  Interpreter *outer;
};

/// Keeps `state.module` and `state.node` over an evaluation of another text.
class PlaceGuard {
public:
  explicit PlaceGuard(Interpreter::State &s) : state(s), module(s.module), node(s.node) {}
  ~PlaceGuard() { state.module = module, state.node = node; }
  PlaceGuard(const PlaceGuard &) = delete;

private:
  Interpreter::State &state;
  const syntax::Module *module;
  const syntax::Node *node;
};

/// Empties the lists, dicts and instances that hold themselves, directly or not, and are reached
/// from these names.
void breakCycles(const std::vector<const Namespace *> &roots);
/// At the end of a call: names that nothing made in it reads are given up, as Python keeps
/// variables in cells only where an inner function has them; all of them, where only the functions
/// that they name hold the scope. `scope` is the last reference of the call.
void releaseLocals(const std::shared_ptr<Scope> &scope);
/// Adds to `now` what the text reads while it runs, and to `later` what may be read after: by
/// functions, classes and generators made in it, and by annotations, which wait until asked.
void collectReads(Interpreter::State &, const syntax::List<syntax::Stmt> &body, NameSet &now,
                  NameSet &later);
void collectReads(Interpreter::State &, const syntax::Expr &expr, NameSet &now, NameSet &later);
/// Runs the __del__ of an instance that nothing holds any more; false where it has run before.
bool finaliseInstance(const std::shared_ptr<Instance> &instance);
void addWeakReferences(NativeModules &);
void addFibers(NativeModules &);
void addDigests(NativeModules &);
/// The names that instances may have, where every class of theirs says __slots__.
void setSlots(Interpreter &, Class &cls);
void finishEnum(Interpreter &, const std::shared_ptr<Class> &cls);
/// What is bound to a name in an enum's body: auto() is its value there.
Value settledAuto(Interpreter &, const Class &cls, const Namespace &body, const std::string &name,
                  const Value &value);
bool isOneFlag(const Value &member);
Value enumFromCall(Interpreter &, const std::shared_ptr<Class> &base, const CallArgs &args);
void addJson(NativeModules &);
void addExceptionGroups(Interpreter &);
/// What `except* types` takes of an exception, and what it leaves: (group, rest), each None where
/// there is nothing.
std::pair<Value, Value> splitGroup(Interpreter &, const Value &exception, const Value &types);
/// An ExceptionGroup of these, of the kind of `like` where that is one.
Value groupOf(Interpreter &, const Value &message, Tuple exceptions);
/// `outer.<locals>.Name` of what stands there in the text; the plain name where it is not found.
std::string qualifiedNameOf(const syntax::Module &module, const SourceRange &where,
                            const std::string &name);

/// In a catch clause: what built-ins throw in other words than a diagnostic's becomes one at the
/// place that is being evaluated, so that no value that a program hands them is an error of ours.
/// `what` names what was at work. Everything else is thrown on.
[[noreturn]] void rethrowInSentences(Interpreter &interpreter,
                                     const std::function<std::string()> &what);

/// Refuses what is too long a text or list for host code.
void checkLength(Interpreter &interpreter, size_t length);

/// Runs statements and expressions of one scope.
class Evaluator {
public:
  enum class Flow : uint8_t { Normal, Break, Continue, Return };

  Evaluator(Interpreter &i, std::shared_ptr<Scope> s)
      : interpreter(i), state(i.state()), scope(std::move(s)) {}

  Flow run(const syntax::List<syntax::Stmt> &body);
  Value eval(const syntax::Expr &expr);
  Value takeResult() { return std::move(result); }
  std::shared_ptr<Function> makeFunction(const syntax::Arguments &args);
  /// The value of one name of an import statement.
  Value importNow(const syntax::Stmt &statement, const syntax::Alias &alias);
  /// Of a file's top level: see InterpreterOptions::defersFileErrors.
  bool defersErrors = false, defersImports = false;
  /// What takes the values that a generator function's `yield` gives.
  using Sink = std::function<void(const Value &)>;
  const Sink *sink = nullptr;

private:
  Interpreter &interpreter;
  Interpreter::State &state;
  std::shared_ptr<Scope> scope;
  Value result;
  unsigned triesAround = 0;
  unsigned probesAround = 0; ///< see execTriedBody

  // Statements
  Flow exec(const syntax::Stmt &stmt);
  Flow execDeferring(const syntax::Stmt &stmt);
  bool isInFirstFile() const;
  void makeUnusable(const syntax::Stmt &stmt, const Diagnostic &reason);
  Flow execFor(const syntax::For &stmt);
  Flow execWhile(const syntax::While &stmt);
  Flow execTry(const syntax::Try &stmt);
  Flow execTryStar(const syntax::Try &stmt, const RaisedError &error, bool &handled);
  Flow execMatch(const syntax::Match &stmt);
  bool fits(const syntax::Pattern &pattern, const Value &subject,
            std::vector<std::pair<std::string, Value>> &bound);
  bool fitsSequence(const syntax::MatchSequence &pattern, const Value &subject,
                    std::vector<std::pair<std::string, Value>> &bound);
  bool fitsMapping(const syntax::MatchMapping &pattern, const Value &subject,
                   std::vector<std::pair<std::string, Value>> &bound);
  bool fitsClass(const syntax::MatchClass &pattern, const Value &subject,
                 std::vector<std::pair<std::string, Value>> &bound);
  Flow execHandlers(const syntax::Try &stmt, const RaisedError &error, bool &handled);
  Flow execTriedBody(const syntax::Try &stmt);
  void settleTried();
  Flow execWith(const syntax::With &stmt, size_t item);
  Flow execWithGenerator(const syntax::With &stmt, size_t item, class GeneratorContext &context);
  void execAugAssign(const syntax::AugAssign &stmt);
  void execAnnAssign(const syntax::AnnAssign &stmt);
  void execAssert(const syntax::Assert &stmt);
  void execRaise(const syntax::Raise &stmt);
  void execDelete(const syntax::Expr &target);
  [[noreturn]] void raiseUnbound(const std::string &name, bool isGlobal);
  void execImport(const syntax::Import &stmt);
  void execImportFrom(const syntax::ImportFrom &stmt);
  Value importDeferring(const Value &source, const std::string &name);
  bool importsLate(const std::string &module, int level) const;
  Value sourceOf(const syntax::ImportFrom &stmt);
  void execFunctionDef(const syntax::FunctionDef &stmt);
  void execClassDef(const syntax::ClassDef &stmt);
  std::vector<std::shared_ptr<Class>> basesOf(const syntax::ClassDef &stmt);
  CallArgs classKeywords(const syntax::ClassDef &stmt, Value &metaclass);
  std::shared_ptr<Scope> classBody(const syntax::ClassDef &stmt, const Dict &prepared);
  Value callMetaclass(const syntax::ClassDef &stmt, const Value &metaclass, Tuple bases,
                      CallArgs keywords);
  Value leaveOut(const syntax::Expr &decorator, const Diagnostic &reason, const Value &kernel);
  Value madeOf(const Value &value) const;
  Value applyDecorator(const Value &decorator, const Value &value);
  Value decorate(const syntax::List<syntax::Expr> &decorators, Value value);
  bool guardsImports(const syntax::Try &stmt) const;
  bool matches(const RaisedError &error, const syntax::ExceptHandler &handler);

  // Expressions
  std::optional<Value> mergedChoice(const syntax::IfExp &choice, const Value &test);
  bool mergedBranch(const syntax::If &branch, const Value &test);
  Value evalConstant(const syntax::Constant &c);
  Value evalBoolOp(const syntax::BoolOp &e);
  Value evalUnary(const syntax::UnaryOp &e);
  Value evalCompare(const syntax::Compare &e);
  Value compareOnce(syntax::CmpOperator op, const Value &a, const Value &b);
  Value evalCall(const syntax::Call &e);
  CallArgs evalArguments(const syntax::Call &e, const Value &self);
  Value evalCallee(const syntax::Expr &callee, Value &self);
  Value evalJoinedStr(const syntax::JoinedStr &e);
  std::string evalFormatted(const syntax::FormattedValue &e);
  Value evalDict(const syntax::Dict &e);
  Value evalLambda(const syntax::Lambda &e);
  Value evalComprehension(const syntax::Expr &e);
  Value evalSlicePart(const syntax::Ptr<syntax::Expr> &part);
  void raiseThrown();
  Value evalYieldFrom(const syntax::YieldFrom &);
  std::vector<Value> evalElements(const syntax::List<syntax::Expr> &elements);
  void appendElements(const syntax::List<syntax::Expr> &elements, std::vector<Value> &out);
  void comprehend(const std::vector<syntax::Comprehension> &generators, size_t depth,
                  const Value *firstIterable, const std::function<bool(Evaluator &)> &element,
                  bool &stop);
  Evaluator comprehensionScope(const void *key,
                               const std::vector<syntax::Comprehension> &generators);
  Value superOf();

  // Names
  Value load(const syntax::Name &name);
  void store(std::string_view name, Value value);
  void assign(const syntax::Expr &target, const Value &value);
  void unpack(const syntax::List<syntax::Expr> &targets, const Value &value);
  void at(const syntax::Node &node) { state.node = &node; }
};

/// Runs the bodies of functions, each defined inside the one before it, the first at the module's
/// top level, as a file is read: parameters without a default are unusable, and what a refused
/// statement would bind is too. Returns the names of the last one.
std::shared_ptr<Scope> readFunctions(Interpreter &, const Module &,
                                     const std::vector<const syntax::FunctionDef *> &functions);

/// Gives up evaluating both sides of a branch when one of them branches on `test` itself.
void leaveMerge(Interpreter &, const Value &test);

/// The names that a statement binds where it stands, its branches included.
NameSet namesBoundBy(const syntax::Stmt &stmt);

/// The function that `object.name(…)` calls with `object` before its arguments; null: what
/// Interpreter::getAttr() gives is called.
const Value *methodOf(Interpreter &, const Value &object, std::string_view name);

/// The innermost value of `name` seen from `scope`: enclosing scopes, globals, builtins.
std::optional<Value> lookupName(Interpreter &, const Scope &scope, std::string_view name);

/// One iteration protocol for eager and lazy iterables: stops when `f` returns false.
void forEach(Interpreter &, const Value &iterable, const std::function<bool(const Value &)> &f);

class GeneratorCall;

/// Gives the elements of any iterable one at a time, when they are asked for.
std::function<std::optional<Value>()> pullerOf(Interpreter &, const Value &iterable);

/// A generator expression, or what zip, map, filter … give. Elements are produced when asked for.
class Iterator : public Object {
public:
  using Producer = std::function<void(const std::function<bool(const Value &)> &)>;
  using Puller = std::function<std::optional<Value>()>;
  Iterator(std::string kind, Producer p) : name(std::move(kind)), producer(std::move(p)) {}
  Iterator(std::string kind, Puller p)
      : name(std::move(kind)), puller(std::make_shared<Puller>(std::move(p))) {}
  Iterator(std::string kind, std::vector<Value> v)
      : name(std::move(kind)), elements(std::move(v)) {}
  /// Of a generator function: the call itself, for contextlib.contextmanager.
  std::shared_ptr<GeneratorCall> generator;
  void forgetResult();

  ~Iterator() override;
  std::string typeName() const override { return name; }
  std::optional<Value> getAttr(Interpreter &, std::string_view attribute) override;
  std::optional<std::vector<Value>> iterate(Interpreter &) override;
  void stream(const std::function<bool(const Value &)> &f);
  std::optional<Value> next(Interpreter &);
  /// Goes on with that exception at the `yield` where it was left.
  std::optional<Value> throwInto(Interpreter &, RaisedError error);
  /// Ends a generator that was left at a `yield`: GeneratorExit is raised there, or, where the
  /// interpreter goes, its body is left without a word.
  void close(Interpreter &, bool silently);

private:
  void suspendAtYields(Interpreter &);
  std::string name;
  Producer producer; ///< null once it runs
  std::shared_ptr<Puller> puller;
  std::shared_ptr<class Suspension> suspension;
  std::vector<Value> elements;
  size_t position = 0;
};

/// A name that an import binds, looked up when it is first used.
class LateImport final : public Object {
public:
  LateImport(std::shared_ptr<Scope> s, const syntax::Stmt &stmt, const syntax::Alias &a)
      : scope(std::move(s)), statement(stmt), alias(&a) {}
  std::string typeName() const override { return "module"; }
  /// What the import gives. Raises what it raises.
  Value resolve(Interpreter &);

private:
  std::shared_ptr<Scope> scope; ///< of the file that imports
  const syntax::Stmt &statement;
  const syntax::Alias *alias;
  std::optional<Value> value;
  bool isRunning = false;
};

/// What a name of a module stands for, a late import looked up; nullopt when there is no such name.
std::optional<Value> settled(Interpreter &, Namespace &names, std::string_view name);
/// The same of what was found there.
Value settled(Interpreter &, Namespace &names, std::string_view name, const Value &found);

/// A call of a generator function that has not begun. run() runs the body to its end; each `yield`
/// hands its value to the sink, on whose return the body goes on. What the sink throws is raised at
/// the `yield`.
class GeneratorCall {
public:
  virtual ~GeneratorCall() = default;
  virtual void run(const std::function<void(const Value &)> &sink) = 0;
  virtual std::string name() const = 0;
  Value result; ///< what the body returned, for those who asked for the element that was none
};
/// `iterator` has no more elements; what its generator just returned is the exception's value.
[[noreturn]] void raiseStop(Interpreter &, const Iterator &iterator);

/// What a function decorated with contextlib.contextmanager gives: `with` runs its body at the one
/// `yield`. It may be run again, as a decorator.
class GeneratorContext : public Object {
public:
  Value function;
  CallArgs args;
  GeneratorContext(Value f, CallArgs a) : function(std::move(f)), args(std::move(a)) {}
  std::string typeName() const override { return "_GeneratorContextManager"; }
  /// Runs the generator with `body` in place of its `yield`.
  void run(Interpreter &, const std::function<void(const Value &)> &body);
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  bool isCallable() const override { return true; }
  Value call(Interpreter &, CallArgs args) override;

private:
  std::shared_ptr<Iterator> running; ///< entered by hand
  Value enter(Interpreter &);
  Value exit(Interpreter &, const Value &exception);
};

/// An exception, or a class of them, as `raise` takes it.
RaisedError raisedOf(Interpreter &, Value exception);

/// `with` accepts it and it does nothing: torch.no_grad(), contextlib.nullcontext().
std::shared_ptr<Instance> makeNullContext(Interpreter &, Value entered = {});
/// A context that calls the one when it is entered and the other when it is left.
Value makeContext(std::function<void()> enter, std::function<void()> leave);

/// object.__new__ for a class: __init__ has not run.
std::shared_ptr<Instance> newInstance(Interpreter &, const std::shared_ptr<Class> &cls,
                                      const CallArgs &args);
Value makerOfInstances();
/// Refuses where a class derives from one that is not evaluated: "`what` <name>, which is …".
void refuseAbsentBases(Interpreter &, const std::string &what, const Class &cls);
std::optional<Value> describedBy(Interpreter &, const Value &attribute, const Value &instance,
                                 const Value &owner);
/// A method of `object`, to be called with the instance; nullopt for a name that it lacks.
std::optional<Value> rootMethod(std::string_view name);
/// `for v in instance`, by __iter__, __next__ or __getitem__; ends when `f` returns false.
void streamInstance(Interpreter &, Instance &instance, const std::function<bool(const Value &)> &f);
/// copy.deepcopy().
Value deepCopy(Interpreter &, const Value &value);
/// The iterator of a generator function that was called with what is in `scope`.
Value beginGenerator(Interpreter &, std::shared_ptr<Function> function,
                     std::shared_ptr<Scope> scope, SourceLocation callSite);
/// importlib.import_module() and __import__(): files ask for what may be missing, so that this is
/// ModuleNotFoundError.
Value importInstalled(Interpreter &, const std::string &name);
/// Whether there is a library of that name, to import or to ask for: importlib.util.find_spec().
bool isInstalled(Interpreter &, const std::string &name);
/// A live mapping of `names`, which belong to `owner`: globals(), vars(x), x.__dict__.
Value namesOf(Value owner, Namespace &names);
bool isNames(const Value &value);
/// The entries that one of those has now; nullopt for other values.
std::optional<Dict> copyOfNames(const Value &mapping);
/// `del mapping[key]` where it is one of those and has the name.
bool removeName(const Value &mapping, const Value &key);
/// The entries of a dict, of an instance of one, or of what has keys() and []; nullopt for others.
std::optional<Dict> mappingOf(Interpreter &, const Value &value);
/// body() in place of the user's code that raised AttributeError: nullopt.
std::optional<Value> attributeIfAny(Interpreter &, const Value &object, std::string_view name);

/// A text that shows a dynamic size. It may be printed, raised and joined to others; what it is
/// used for beyond that would depend on the size, and is refused.
class SymText : public Object {
public:
  const std::string text;
  explicit SymText(std::string t) : text(std::move(t)) {}
  std::string typeName() const override { return "str"; }
  std::string repr() const override { return text; }
  std::optional<Value> getAttr(Interpreter &, std::string_view name) override;
  std::optional<Value> getItem(Interpreter &, const Value &key) override;
  std::optional<Value> binaryOp(Interpreter &, BinaryOp, const Value &other,
                                bool reflected) override;
  std::optional<Value> compare(Interpreter &, CompareOp, const Value &other,
                               bool reflected) override;
  std::optional<Value> length(Interpreter &) override;
  std::optional<std::vector<Value>> iterate(Interpreter &) override;
  std::optional<bool> contains(Interpreter &, const Value &) override;
  bool equals(const Object &other) const override;
  std::optional<size_t> hash() const override;
  bool isSymbolic() const override { return true; }
  /// Refuses a use whose outcome depends on the size.
  [[noreturn]] void refuse(Interpreter &) const;
};

/// A float that is a quotient of sizes, or is computed from sizes without rounding; the denominator
/// is not below 0 where that is known.
struct SizeQuotient {
  symbolic::Expr numerator, denominator;
};
std::optional<SizeQuotient> quotientOf(const Value &number);

/// The str that `make` gives, or a SymText where it shows a dynamic size.
Value textOf(const std::function<std::string()> &make);

/// A module's function under its own name.
void setNative(Module &m, const std::string &name, const char *signature,
               NativeFunction::Body body);

// Each fills its part of a new interpreter.
void addSpecialMethods(Interpreter &);
void addLibraryModules(NativeModules &);
void addRegularExpressions(NativeModules &);
void addBuiltinTypes(Interpreter &);
void addStringMethods(Interpreter &);
void addContainerMethods(Interpreter &);
void addBuiltinFunctions(Interpreter &);
void addDataFiles(Interpreter &);
void addExceptions(Interpreter &);
void addStandardModules(NativeModules &);
void addMathModule(NativeModules &);
void addFunctools(NativeModules &);
void addVersionModules(NativeModules &);
void addDataModules(NativeModules &);
void addClassModules(NativeModules &);
void addDataclasses(NativeModules &);
void addTritonModules(NativeModules &);
void addTorchLibrary(NativeModules &);
/// What a script has beyond that: arguments, files, time, argparse, random, …
/// The lines of a traceback, without its first and last.
std::string toString(const Traceback &traceback);
/// The KeyboardInterrupt that an Interrupted is.
RaisedError interruptionOf(Interpreter &);
/// Notes in a script's exception where it is raised, and while which other one is handled.
void noteRaised(Interpreter &, const Value &exception);
/// That the function which runs handles it; or lets it go on after all.
void noteHandled(Interpreter &, const Value &exception, bool isHandled);
void addScriptModules(NativeModules &, const ScriptOptions &);
void addScriptBuiltins(Interpreter &);

/// What a class body leaves for type.__new__ in its namespace as `__classcell__`: the scope whose
/// methods ask for the class by super().
class ClassCell : public Object {
public:
  const std::shared_ptr<Scope> body;
  explicit ClassCell(std::shared_ptr<Scope> b) : body(std::move(b)) {}
  std::string typeName() const override { return "cell"; }
};

/// Whether its instances are classes.
bool isMetaclass(const Class &cls);
/// Whether it says more than Python's own ones, which every class follows.
bool runsOwnCode(const Class &metaclass);
/// The most derived one of what is written and what the bases have; null: type.
std::shared_ptr<Class> metaclassOf(Interpreter &, std::shared_ptr<Class> written,
                                   const std::vector<std::shared_ptr<Class>> &bases);
/// type(name, bases, namespace)
Value classFromCall(Interpreter &, const CallArgs &args);
/// What follows on a class's body: hooks of its bases and of what it holds.
void completeClass(Interpreter &, const std::shared_ptr<Class> &cls, CallArgs keywords);
void addTypeMethods(Interpreter &);
std::shared_ptr<Class> makeAbcMeta(Interpreter &);
std::shared_ptr<Class> makeEnumMeta(Interpreter &);
/// dict, list, int, str …: types whose values an instance of a derived class can hold.
bool isContentType(const Class &cls);
bool isPropertyType(const Class &cls);
const Class *contentTypeOf(const Class &cls);
/// Whether an attribute of the class goes before the instance's own: a property, or what has
/// `__set__`.
bool isDataDescriptor(const Value *onClass);
/// "__add__" without its underscores.
std::string_view operatorName(BinaryOp op);
std::string_view comparisonName(CompareOp op);
/// nullopt for NotImplemented.
std::optional<Value> notImplementedIsNothing(Interpreter &, Value v);

/// typing, dataclasses and enum hooks for classes with special bases.
void finishClass(Interpreter &, const std::shared_ptr<Class> &cls);
void makeNamedTuple(Interpreter &, const std::shared_ptr<Class> &cls,
                    const std::vector<std::string> &fields);
/// The abstract classes of collections.abc, which `typing` has too.
void addAbstractClasses(Interpreter &, Module &);
void fillTyping(Interpreter &, Module &);
/// `@decorator` names that leave a function as it is and come from libraries we do not run.
bool isTransparentDecorator(std::string_view finalName);
Value stringPercent(Interpreter &, const std::string &format, const Value &args);
Value makeException(Interpreter &, const std::shared_ptr<Class> &cls, std::vector<Value> args);
/// Refuses what does not fit 64 bits.
Value makeRangeOf(Interpreter &, Int start, Int stop, Int step);
/// Concrete slice bounds for a sequence of `length` elements, as slice.indices().
Range sliceIndices(Interpreter &, const Slice &slice, int64_t length);

/// `name` of a module that is written here.
inline void addFunction(Module &m, const char *name, const char *signature,
                        NativeFunction::Body body) {
  m.globals->set(name, native(name, signature, std::move(body)));
}

} // namespace pellucid::host
