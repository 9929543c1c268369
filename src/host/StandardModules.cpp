// SPDX-License-Identifier: Apache-2.0
/// Small modules of Python's library: operator, contextlib, logging, os, sys.
#include "host/InterpreterState.h"

namespace pellucid::host {

using Bound = std::vector<Value>;

void setNative(Module &m, const std::string &name, const char *signature,
               NativeFunction::Body body) {
  m.globals->set(name, native(m.name + "." + name, signature, std::move(body)));
}

namespace {

// ---- operator
// ------------------------------------------------------------------------------------------------------

void fillOperator(Interpreter &, Module &m) {
  struct Row {
    const char *name;
    BinaryOp op;
  };
  for (Row row : {Row{"add", BinaryOp::Add}, Row{"sub", BinaryOp::Sub}, Row{"mul", BinaryOp::Mul},
                  Row{"truediv", BinaryOp::Div}, Row{"floordiv", BinaryOp::FloorDiv},
                  Row{"mod", BinaryOp::Mod}})
    setNative(m, row.name, "a, b",
              [op = row.op](Interpreter &i, Bound &a) { return i.binary(op, a[0], a[1]); });
  struct Comparison {
    const char *name;
    CompareOp op;
  };
  for (Comparison row : {Comparison{"eq", CompareOp::Eq}, Comparison{"ne", CompareOp::Ne},
                         Comparison{"lt", CompareOp::Lt}, Comparison{"le", CompareOp::Le},
                         Comparison{"gt", CompareOp::Gt}, Comparison{"ge", CompareOp::Ge}})
    setNative(m, row.name, "a, b",
              [op = row.op](Interpreter &i, Bound &a) { return i.compare(op, a[0], a[1]); });
}

// ---- sys.modules
// -----------------------------------------------------------------------------------------------

/// A snapshot to ask; putting something in the place of a module that is being read makes that
/// answer for its names.
class LoadedModules : public Object {
public:
  explicit LoadedModules(Dict m) : modules(std::move(m)) {}
  std::string typeName() const override { return "dict"; }
  std::optional<Value> getItem(Interpreter &interpreter, const Value &key) override {
    return interpreter.getItem(Value::dict(modules), key);
  }
  bool setItem(Interpreter &interpreter, const Value &key, const Value &value) override {
    for (const auto &[path, module] : interpreter.state().files)
      if (key.isStr() && module->name == key.str() && !value.isSame(Value(module)))
        module->replacement = value;
    modules.set(key, value);
    return true;
  }
  std::optional<bool> contains(Interpreter &, const Value &key) override {
    return modules.find(key) != nullptr;
  }
  std::optional<std::vector<Value>> iterate(Interpreter &interpreter) override {
    return interpreter.iterate(Value::dict(modules));
  }
  std::optional<Value> length(Interpreter &) override {
    return Value(static_cast<int64_t>(modules.size()));
  }
  std::optional<Value> getAttr(Interpreter &interpreter, std::string_view name) override {
    if (name == "pop" || name == "clear" || name == "update" || name == "setdefault")
      interpreter.refuse("sys.modules." + std::string(name) +
                         "() is not supported; modules stay as they were imported");
    return interpreter.findAttr(Value::dict(modules), name);
  }

private:
  Dict modules;
};

// ---- contexts, logging, os
// -----------------------------------------------------------------------------------------

void fillContextlib(Interpreter &, Module &m) {
  setNative(m, "contextmanager", "func", [](Interpreter &i, Bound &a) {
    Value helper =
        nativeRaw("contextlib.contextmanager", [function = a[0]](Interpreter &, CallArgs args) {
          return Value(std::make_shared<GeneratorContext>(function, std::move(args)));
        });
    (void)i;
    return helper;
  });
  setNative(m, "nullcontext", "enter_result=None",
            [](Interpreter &i, Bound &a) { return Value(makeNullContext(i, a[0])); });
  m.globals->set(
      "suppress", nativeRaw("contextlib.suppress", [](Interpreter &i, CallArgs args) {
        auto context = makeNullContext(i);
        auto swallow = [classes = Value::tuple(args.positional)](Interpreter &in, CallArgs exit) {
          const Value &error = exit.positional.back().isNone() && exit.positional.size() > 2
                                   ? exit.positional[exit.positional.size() - 2]
                                   : exit.positional.back();
          return Value(!error.isNone() && in.isInstance(error, classes));
        };
        context->attributes.set("__exit__", nativeRaw("__exit__", swallow));
        return Value(context);
      }));
}

/// A logger, or the logging and warnings modules: every call is heard by nobody.
void fillSilent(Interpreter &, Module &m) {
  auto nothing = nativeRaw(m.name, [](Interpreter &, CallArgs) { return Value(); });
  auto logger = Class::make("Logger", m.name);
  for (const char *name :
       {"debug", "info", "warning", "error", "critical", "exception", "log", "setLevel",
        "addHandler", "warn", "filterwarnings", "simplefilter", "basicConfig", "isEnabledFor",
        "warning_once", "info_once", "debug_once", "disable"}) {
    logger->attributes.set(name, nothing);
    m.globals->set(name, nothing);
  }
  Value instance(std::make_shared<Instance>(logger));
  m.globals->set("getLogger", nativeRaw(m.name + ".getLogger",
                                        [instance](Interpreter &, CallArgs) { return instance; }));
  m.globals->set("Logger", Value(logger));
  m.globals->set("root", instance);
  auto handler = Class::make("Handler", m.name);
  handler->attributes.set("__init__", nothing);
  for (const char *name : {"setLevel", "setFormatter", "addFilter", "flush", "close", "emit"})
    handler->attributes.set(name, nothing);
  m.globals->set("Handler", Value(handler));
  for (const char *name : {"StreamHandler", "NullHandler", "FileHandler", "Formatter", "Filter"})
    m.globals->set(name, Value(Class::make(name, m.name, {handler})));
  for (const char *name : {"captureWarnings", "setLoggerClass", "addLevelName", "shutdown"})
    m.globals->set(name, nothing);
  m.globals->set("NOTSET", Value(0));
  for (auto [name, level] :
       {std::pair{"DEBUG", 10}, {"INFO", 20}, {"WARNING", 30}, {"ERROR", 40}, {"CRITICAL", 50}})
    m.globals->set(name, Value(level));
  setNative(m, "catch_warnings", "record=False",
            [](Interpreter &i, Bound &) { return Value(makeNullContext(i)); });
}

/// The environment is empty: what is traced must not depend on who traces it.
void fillOs(Interpreter &, Module &m) {
  m.globals->set("environ", Value::dict());
  setNative(m, "getenv", "key, default=None", [](Interpreter &, Bound &a) { return a[1]; });
  m.globals->set("sep", Value("/"));
  m.globals->set("name", Value("posix"));
}

void fillOsPath(Interpreter &, Module &m) {
  setNative(m, "join", "path, *paths", [](Interpreter &i, Bound &a) {
    std::string out = i.toStr(a[0], "a path");
    for (const Value &v : a[1].tuple()) {
      const std::string &part = i.toStr(v, "a path");
      out =
          part.starts_with("/") ? part : out + (out.empty() || out.back() == '/' ? "" : "/") + part;
    }
    return Value(out);
  });
  setNative(m, "dirname", "p", [](Interpreter &i, Bound &a) {
    const std::string &p = i.toStr(a[0], "a path");
    size_t slash = p.rfind('/');
    return Value(slash == std::string::npos ? "" : p.substr(0, std::max<size_t>(slash, 1)));
  });
  setNative(m, "basename", "p", [](Interpreter &i, Bound &a) {
    const std::string &p = i.toStr(a[0], "a path");
    return Value(p.substr(p.rfind('/') + 1));
  });
  for (const char *name : {"abspath", "realpath", "normpath", "expanduser"})
    setNative(m, name, "p", [](Interpreter &, Bound &a) { return a[0]; });
}

/// sys.modules: what was imported so far.
Value importedModules(Interpreter &interpreter) {
  Dict out;
  for (const auto &[name, module] : interpreter.state().natives)
    out.set(Value(name), Value(module));
  for (const auto &[path, module] : interpreter.state().files)
    if (module->syntax && module->syntax->file->path().find('<') != 0)
      out.set(Value(module->name), Value(module));
  return Value(std::make_shared<LoadedModules>(std::move(out)));
}

/// Made when it is first asked for, with its parts by name.
Value versionInfo(Interpreter &interpreter) {
  auto cls = Class::make("sys.version_info", "sys");
  interpreter.state().madeClasses.push_back(cls);
  makeNamedTuple(interpreter, cls, {"major", "minor", "micro", "releaselevel", "serial"});
  Value version =
      interpreter.call(Value(cls), {Value(3), Value(12), Value(0), Value("final"), Value(0)});
  interpreter.nativeModule("sys")->globals->set("version_info", version);
  return version;
}

void fillSys(Interpreter &, Module &m) {
  auto next = m.fallback;
  m.fallback = [next](Interpreter &i, std::string_view name) -> std::optional<Value> {
    if (name == "version_info")
      return versionInfo(i);
    return name == "modules" ? std::optional(importedModules(i)) : next(i, name);
  };
  m.globals->set("platform", Value("linux"));
  m.globals->set("path", Value::list({}));
  m.globals->set("argv", Value::list({Value("")}));
  m.globals->set("maxsize", Value(INT64_MAX));
  m.globals->set("byteorder", Value("little"));
  // What is written there is not shown.
  auto stream = Class::make("TextIOWrapper", "io");
  auto nothing = nativeRaw("nothing", [](Interpreter &, CallArgs) { return Value(); });
  for (const char *name : {"write", "flush"})
    stream->attributes.set(name, nothing);
  stream->attributes.set("isatty",
                         nativeRaw("isatty", [](Interpreter &, CallArgs) { return Value(false); }));
  for (const char *name : {"stdout", "stderr"})
    m.globals->set(name, Value(std::make_shared<Instance>(stream)));
}

} // namespace

std::shared_ptr<Instance> makeNullContext(Interpreter &, Value entered) {
  static const std::shared_ptr<Class> cls = [] {
    auto c = Class::make("nullcontext", "contextlib");
    c->attributes.set(
        "__enter__", nativeRaw("__enter__", [](Interpreter &, CallArgs args) {
          const Value *v =
              args.positional[0].expect<Instance>("a context").attributes.find("enter_result");
          return v ? *v : Value();
        }));
    c->attributes.set("__exit__",
                      nativeRaw("__exit__", [](Interpreter &, CallArgs) { return Value(false); }));
    // `@torch.no_grad()` over a function.
    c->attributes.set("__call__", nativeRaw("__call__", [](Interpreter &, CallArgs args) {
                        return args.positional.at(1);
                      }));
    return c;
  }();
  auto context = std::make_shared<Instance>(cls);
  context->attributes.set("enter_result", std::move(entered));
  return context;
}

Value makeContext(std::function<void()> enter, std::function<void()> leave) {
  auto cls = Class::make("context", "contextlib");
  cls->attributes.set("__enter__", nativeRaw("__enter__", [enter](Interpreter &, CallArgs) {
                        enter();
                        return Value();
                      }));
  cls->attributes.set("__exit__", nativeRaw("__exit__", [leave](Interpreter &, CallArgs) {
                        leave();
                        return Value(false);
                      }));
  return Value(std::make_shared<Instance>(cls));
}

void addStandardModules(NativeModules &modules) {
  modules.add("operator", fillOperator);
  modules.add("contextlib", fillContextlib);
  modules.add("logging", fillSilent);
  modules.add("warnings", fillSilent);
  modules.add("os", fillOs);
  modules.add("os.path", fillOsPath);
  modules.add("sys", fillSys);
}

} // namespace pellucid::host
