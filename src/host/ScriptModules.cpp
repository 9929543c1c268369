// SPDX-License-Identifier: Apache-2.0
/// What a script sees of the world: its arguments, streams and files, the time, argparse, random.
#include "host/ByteString.h"
#include "host/InterpreterState.h"
#include "host/RegularExpression.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace pellucid::host {

using Bound = std::vector<Value>;

void fillScriptFiles(Module &m);
void fillScriptNumbers(Module &m);

namespace {

struct TextModule {
  const char *name, *source;
};

const TextModule textModules[] = {
    {
        "argparse",
#include "host/modules/argparse.py.inc"
#include "host/modules/argparse_actions.py.inc"
#include "host/modules/argparse_parser.py.inc"
    },
    {
        "ast",
#include "host/modules/ast.py.inc"
    },
    {
        "atexit",
#include "host/modules/atexit.py.inc"
    },
    {
        "bisect",
#include "host/modules/bisect.py.inc"
    },
    {
        "csv",
#include "host/modules/csv.py.inc"
    },
    {
        "datetime",
#include "host/modules/datetime.py.inc"
    },
    {
        "tqdm",
#include "host/modules/tqdm.py.inc"
    },
    {
        "tqdm.auto",
#include "host/modules/tqdm.py.inc"
    },
    {
        "fnmatch",
#include "host/modules/fnmatch.py.inc"
    },
    {
        "gc",
#include "host/modules/gc.py.inc"
    },
    {
        "glob",
#include "host/modules/glob.py.inc"
    },
    {
        "heapq",
#include "host/modules/heapq.py.inc"
    },
    {
        "importlib.machinery",
#include "host/modules/importlib_machinery.py.inc"
    },
    {
        "io",
#include "host/modules/io.py.inc"
    },
    {
        "logging",
#include "host/modules/logging.py.inc"
    },
    {
        "os",
#include "host/modules/os.py.inc"
    },
    {
        "os.path",
#include "host/modules/os_path.py.inc"
    },
    {
        "pathlib",
#include "host/modules/pathlib.py.inc"
    },
    {
        "pkgutil",
#include "host/modules/pkgutil.py.inc"
    },
    {
        "pprint",
#include "host/modules/pprint.py.inc"
    },
    {
        "random",
#include "host/modules/random.py.inc"
    },
    {
        "shutil",
#include "host/modules/shutil.py.inc"
    },
    {
        "statistics",
#include "host/modules/statistics.py.inc"
    },
    {
        "string",
#include "host/modules/string.py.inc"
    },
    {
        "tempfile",
#include "host/modules/tempfile.py.inc"
    },
    {
        "textwrap",
#include "host/modules/textwrap.py.inc"
    },
    {
        "time",
#include "host/modules/time.py.inc"
    },
    {
        "traceback",
#include "host/modules/traceback.py.inc"
    },
    {
        "weakref",
#include "host/modules/weakref.py.inc"
    },
    {
        "queue",
#include "host/modules/queue.py.inc"
    },
    {
        "concurrent.futures",
#include "host/modules/concurrent_futures.py.inc"
    },
    {
        "unittest",
#include "host/modules/unittest.py.inc"
#include "host/modules/unittest_functions.py.inc"
#include "host/modules/unittest_runs.py.inc"
    },
    {
        "unittest.mock",
#include "host/modules/unittest_mock.py.inc"
    },
    {
        "base64",
#include "host/modules/base64.py.inc"
    },
    {
        "fractions",
#include "host/modules/fractions.py.inc"
    },
    {
        "configparser",
#include "host/modules/configparser.py.inc"
    },
    {
        "uuid",
#include "host/modules/uuid.py.inc"
    },
    {
        "struct",
#include "host/modules/struct.py.inc"
    },
    {
        "hashlib",
#include "host/modules/hashlib.py.inc"
    },
    {
        "secrets",
#include "host/modules/secrets.py.inc"
    },
    {
        "signal",
#include "host/modules/signal.py.inc"
    },
    {
        "warnings",
#include "host/modules/warnings.py.inc"
    },
};

/// What is written in Python stands in the place of what a file that is only read gets; the rest
/// of that stays.
NativeModules::Fill replaceWith(const char *source) {
  return [source](Interpreter &interpreter, Module &m) {
    auto written =
        interpreter.importSource(m.name, std::make_shared<SourceFile>("<" + m.name + ">", source));
    for (const auto &[name, value] : written->globals->items())
      if (!name.starts_with("_") || name == "_exit")
        m.globals->set(name, value);
  };
}

Value stream(Interpreter &interpreter, const char *name) {
  auto io = interpreter.nativeModule("io");
  // The module's own names, private ones too, are those of its text.
  const Value *open = io->globals->find("open");
  return *open->expect<Function>("io.open").globals->find(name);
}

Value exitWith(Interpreter &interpreter, Bound &a) {
  Value exit = makeException(interpreter, interpreter.builtinClass("SystemExit"),
                             a[0].isNone() ? Bound{} : Bound{a[0]});
  exit.as<Instance>()->attributes.set("code", a[0]);
  noteRaised(interpreter, exit);
  throw RaisedError(Diagnostic(Severity::Error, interpreter.location(), "SystemExit"), exit);
}

const Value *handledException(Interpreter &interpreter) {
  const auto &handling = interpreter.state().handling;
  return handling.empty() ? nullptr : &handling.back()->exception;
}

/// sys.path: the script's folder, then those of PYTHONPATH.
static List importPath(const std::string &folder) {
  List path{Value(folder)};
  const char *given = std::getenv("PYTHONPATH");
  std::string_view rest = given ? given : "";
  while (!rest.empty()) {
    size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0)
      path.emplace_back(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return path;
}

void fillScriptSys(Interpreter &interpreter, Module &m, const ScriptOptions &options) {
  List arguments;
  for (const std::string &argument : options.arguments)
    arguments.emplace_back(argument);
  std::string folder = options.arguments.empty() ? "" : options.arguments[0];
  size_t slash = folder.rfind('/');
  m.globals->set("argv", Value::list(std::move(arguments)));
  m.globals->set(
      "path", Value::list(importPath(slash == std::string::npos ? "" : folder.substr(0, slash))));
  for (auto [name, own] :
       {std::pair{"stdout", "_stdout"}, {"stderr", "_stderr"}, {"stdin", "_stdin"}}) {
    m.globals->set(name, stream(interpreter, own));
    m.globals->set("__" + std::string(name) + "__", stream(interpreter, own));
  }
  m.globals->set("executable", Value(""));
  m.globals->set("prefix", Value(""));
  m.globals->set("version", Value("3.12.0 (pellucid)"));
  m.globals->set("hexversion", Value(int64_t(0x030c00f0)));
  addFunction(m, "exit", "status=None", exitWith);
  addFunction(m, "getrecursionlimit", "",
              [](Interpreter &i, Bound &) { return Value(int64_t(i.options().maxDepth)); });
  addFunction(m, "setrecursionlimit", "limit", [](Interpreter &i, Bound &a) {
    int64_t limit = i.toInt64(a[0], "the limit");
    if (limit < 1)
      i.raise("ValueError", "recursion limit must be greater or equal than 1");
    // The stack is what it is; a deeper recursion is refused where it ends.
    i.state().options.maxDepth = static_cast<uint32_t>(std::min<int64_t>(limit, 1'000'000));
    return Value();
  });
  addFunction(m, "getsizeof", "object, default=None", [](Interpreter &i, Bound &) -> Value {
    i.refuse("sys.getsizeof() is not supported: values have no size that Python's would equal");
  });
  addFunction(m, "intern", "string", [](Interpreter &, Bound &a) { return a[0]; });
  addFunction(m, "getdefaultencoding", "", [](Interpreter &, Bound &) { return Value("utf-8"); });
  addFunction(m, "exc_info", "", [](Interpreter &i, Bound &) {
    const Value *exception = handledException(i);
    if (!exception)
      return Value::tuple({Value(), Value(), Value()});
    const Value *traceback = exception->as<Instance>()->attributes.find("__traceback__");
    return Value::tuple({i.typeOf(*exception), *exception, traceback ? *traceback : Value()});
  });
}

/// Places and texts of the program itself, for warnings, logging and traceback.
void fillPlaces(Interpreter &, Module &m) {
  addFunction(m, "caller", "level", [](Interpreter &i, Bound &a) {
    auto traceback = i.traceback();
    auto level = static_cast<size_t>(std::max<int64_t>(1, i.toInt64(a[0], "stacklevel")));
    const auto &entries = traceback->entries;
    if (entries.empty())
      return Value::tuple({Value("sys"), Value(1), Value(true)});
    const auto &entry = entries[entries.size() - std::min(level, entries.size())];
    bool isMain = entry.where.file && i.state().order.front()->syntax &&
                  entry.where.file == i.state().order.front()->syntax->file;
    return Value::tuple(
        {Value(entry.where.file->path()), Value(int64_t(entry.where.range.line)), Value(isMain)});
  });
  addFunction(m, "caller_function", "level", [](Interpreter &i, Bound &a) {
    const auto entries = i.traceback()->entries;
    auto level = static_cast<size_t>(std::max<int64_t>(1, i.toInt64(a[0], "stacklevel")));
    return Value(entries.empty()
                     ? "<module>"
                     : entries[entries.size() - std::min(level, entries.size())].function);
  });
  // (file, line, function, text) of each call, outermost first.
  addFunction(m, "frames", "traceback", [](Interpreter &, Bound &a) {
    List out;
    auto *traceback = a[0].as<Traceback>();
    for (const auto &entry : traceback ? traceback->entries : std::vector<Traceback::Entry>()) {
      if (entry.level < traceback->handledAt)
        continue;
      std::string_view line = entry.where.file->line(entry.where.range.line);
      size_t first = std::min(line.find_first_not_of(" \t"), line.size());
      out.push_back(
          Value::tuple({Value(entry.where.file->path()), Value(int64_t(entry.where.range.line)),
                        Value(entry.function), Value(std::string(line.substr(first)))}));
    }
    return Value::list(std::move(out));
  });
  addFunction(m, "line", "path, number", [](Interpreter &i, Bound &a) {
    for (const auto &module : i.state().order)
      if (module->syntax && module->syntax->file->path() == i.toStr(a[0], "a path"))
        return Value(std::string(
            module->syntax->file->line(static_cast<uint32_t>(i.toInt64(a[1], "a line")))));
    return Value("");
  });
  addFunction(m, "matches", "pattern, text", [](Interpreter &i, Bound &a) {
    Value re(i.nativeModule("re"));
    return Value(!i.call(i.getAttr(re, "match"), {a[0], a[1]}).isNone());
  });
  addFunction(m, "traceback", "exception",
              [](Interpreter &i, Bound &a) { return Value(i.tracebackText(a[0])); });
  addFunction(m, "entries", "traceback", [](Interpreter &, Bound &a) {
    auto *traceback = a[0].as<Traceback>();
    return Value::list(traceback ? List{Value(toString(*traceback))} : List{});
  });
  addFunction(m, "stack", "",
              [](Interpreter &i, Bound &) { return Value(toString(*i.traceback())); });
}

/// Exactly rounded sums: Shewchuk's partials.
Value exactSum(Interpreter &interpreter, Bound &a) {
  std::vector<double> partials;
  forEach(interpreter, a[0], [&](const Value &v) {
    double x = interpreter.toDouble(v, "fsum()'s element");
    size_t kept = 0;
    for (double y : std::vector<double>(partials)) {
      if (std::abs(x) < std::abs(y))
        std::swap(x, y);
      double high = x + y, low = y - (high - x);
      if (low != 0)
        partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    partials.push_back(x);
    return true;
  });
  if (partials.empty())
    return Value(0.0);
  double high = partials.back(), low = 0;
  size_t n = partials.size() - 1;
  while (n > 0) {
    double x = high, y = partials[--n];
    high = x + y;
    low = y - (high - x);
    if (low != 0)
      break;
  }
  if (n > 0 && ((low < 0 && partials[n - 1] < 0) || (low > 0 && partials[n - 1] > 0))) {
    double y = low * 2, x = high + y;
    if (y == x - high)
      high = x;
  }
  return Value(high);
}

void fillScriptMath(Interpreter &, Module &m) {
  addFunction(m, "fsum", "seq", exactSum);
  addFunction(m, "sumprod", "p, q", [](Interpreter &i, Bound &a) {
    std::vector<Value> p = i.iterate(a[0]), q = i.iterate(a[1]);
    if (p.size() != q.size())
      i.raise("ValueError", "Inputs are not the same length");
    Value total(0);
    for (size_t k = 0; k < p.size(); ++k)
      total = i.binary(BinaryOp::Add, total, i.binary(BinaryOp::Mul, p[k], q[k]));
    return total;
  });
  addFunction(m, "hypot", "*coordinates", [](Interpreter &i, Bound &a) {
    double out = 0;
    for (const Value &v : a[0].tuple())
      out = std::hypot(out, i.toDouble(v, "hypot()'s argument"));
    return Value(out);
  });
  addFunction(m, "degrees", "x", [](Interpreter &i, Bound &a) {
    return Value(i.toDouble(a[0], "x") * (180.0 / M_PI));
  });
  addFunction(m, "radians", "x", [](Interpreter &i, Bound &a) {
    return Value(i.toDouble(a[0], "x") * (M_PI / 180.0));
  });
  addFunction(m, "comb", "n, k", [](Interpreter &i, Bound &a) {
    int64_t n = i.toInt64(a[0], "n"), k = i.toInt64(a[1], "k");
    if (n < 0 || k < 0)
      i.raise("ValueError", std::string(n < 0 ? "n" : "k") + " must be a non-negative integer");
    Value out(int64_t(k <= n));
    for (int64_t j = 1; k <= n && j <= std::min(k, n - k); ++j)
      out = i.binary(BinaryOp::FloorDiv,
                     i.binary(BinaryOp::Mul, out, Value(n - std::min(k, n - k) + j)), Value(j));
    return out;
  });
}

} // namespace

void addScriptModules(NativeModules &modules, const ScriptOptions &options) {
  modules.add("_script", [](Interpreter &, Module &m) {
    fillScriptFiles(m);
    fillScriptNumbers(m);
  });
  modules.add("_warnings_place", fillPlaces);
  for (const TextModule &text : textModules)
    modules.add(text.name, replaceWith(text.source));
  modules.add("sys", [options](Interpreter &i, Module &m) { fillScriptSys(i, m, options); });
  modules.add("math", fillScriptMath);
}

void addScriptBuiltins(Interpreter &interpreter) {
  addBytes(interpreter);
  Namespace &builtins = interpreter.state().builtins;
  builtins.set("open", nativeRaw("open", [](Interpreter &i, CallArgs args) {
                 return i.call(*i.nativeModule("io")->globals->find("open"), std::move(args));
               }));
  builtins.set("input", native("input", "prompt=''", [](Interpreter &i, Bound &a) {
                 i.hooks().output(i.str(a[0]));
                 i.hooks().flushOutput();
                 auto script = i.nativeModule("_script");
                 Value line = i.call(*script->globals->find("stdin_line"));
                 std::string text = line.str();
                 if (text.empty())
                   i.raise("EOFError", "EOF when reading a line");
                 if (text.back() == '\n')
                   text.pop_back();
                 return Value(text);
               }));
  for (const char *name : {"exit", "quit"})
    builtins.set(name, native(name, "code=None", exitWith));
  // SystemExit(3) has a code, OSError(2, "No such file or directory", "x") parts and a text of its
  // own.
  interpreter.builtinClass("SystemExit")
      ->attributes.set("__init__", nativeRaw("__init__", [](Interpreter &, CallArgs args) {
                         auto &self = args.positional[0].expect<Instance>("an exception");
                         std::vector<Value> given = args.positional.from(1);
                         self.attributes.set("code", given.empty()       ? Value()
                                                     : given.size() == 1 ? given[0]
                                                                         : Value::tuple(given));
                         self.attributes.set("args", Value::tuple(std::move(given)));
                         return Value();
                       }));
  const auto &system = interpreter.builtinClass("OSError");
  auto part = [](size_t index) {
    return Value(std::make_shared<Descriptor>(
        Descriptor::Form::Property, nativeRaw("part", [index](Interpreter &, CallArgs args) {
          const Value *all =
              args.positional[0].expect<Instance>("an exception").attributes.find("args");
          bool hasParts = all && all->tuple().size() >= 2;
          return hasParts && index < all->tuple().size() ? all->tuple()[index] : Value();
        })));
  };
  system->attributes.set("errno", part(0));
  system->attributes.set("strerror", part(1));
  system->attributes.set("filename", part(2));
  system->attributes.set("__str__", nativeRaw("__str__", [](Interpreter &i, CallArgs args) {
                           const auto &self = args.positional[0].expect<Instance>("an exception");
                           const Value *all = self.attributes.find("args");
                           const Tuple none, &parts = all ? all->tuple() : none;
                           if (parts.size() < 2)
                             return Value(parts.empty() ? "" : i.str(parts[0]));
                           std::string text = "[Errno " + i.str(parts[0]) + "] " + i.str(parts[1]);
                           return Value(parts.size() > 2 ? text + ": " + i.repr(parts[2]) : text);
                         }));
  builtins.set("IOError", Value(system));
  builtins.set("EnvironmentError", Value(system));
}

} // namespace pellucid::host
