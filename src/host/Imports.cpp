// SPDX-License-Identifier: Apache-2.0
/// Finding and running modules: native ones, sibling files and packages, and opaque ones.
#include "host/Imports.h"
#include "syntax/Parser.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace pellucid::host {

using namespace syntax;
namespace fs = std::filesystem;

// Libraries a file may import although they are absent here; guarded imports of others fail as if
// not installed.

/// Those of them that are not Python's own.
static bool isThirdParty(const std::string &name) {
  static const NameSet roots = {"numpy", "pytest", "matplotlib", "pandas", "yaml",
                                "tqdm",  "scipy",  "PIL",        "sklearn"};
  return roots.count(name.substr(0, name.find('.'))) != 0;
}

/// Python's own modules as of 3.11 on Linux, and libraries that many files name.
static bool isKnownLibrary(const std::string &name) {
  static const NameSet roots = {"abc",          "aifc",
                                "argparse",     "array",
                                "ast",          "asynchat",
                                "asyncio",      "asyncore",
                                "atexit",       "audioop",
                                "base64",       "bdb",
                                "binascii",     "bisect",
                                "builtins",     "bz2",
                                "cProfile",     "calendar",
                                "cgi",          "cgitb",
                                "cmath",        "cmd",
                                "code",         "codecs",
                                "codeop",       "collections",
                                "colorsys",     "compileall",
                                "concurrent",   "configparser",
                                "contextlib",   "contextvars",
                                "copy",         "copyreg",
                                "crypt",        "csv",
                                "ctypes",       "curses",
                                "dataclasses",  "datetime",
                                "dbm",          "decimal",
                                "difflib",      "dis",
                                "distutils",    "doctest",
                                "email",        "encodings",
                                "ensurepip",    "enum",
                                "errno",        "faulthandler",
                                "fcntl",        "filecmp",
                                "fileinput",    "fnmatch",
                                "fractions",    "ftplib",
                                "functools",    "gc",
                                "getopt",       "getpass",
                                "gettext",      "glob",
                                "graphlib",     "grp",
                                "gzip",         "hashlib",
                                "heapq",        "hmac",
                                "html",         "http",
                                "imaplib",      "imghdr",
                                "imp",          "importlib",
                                "inspect",      "io",
                                "ipaddress",    "itertools",
                                "json",         "keyword",
                                "linecache",    "locale",
                                "logging",      "lzma",
                                "mailbox",      "mailcap",
                                "marshal",      "math",
                                "mimetypes",    "mmap",
                                "modulefinder", "multiprocessing",
                                "netrc",        "nntplib",
                                "ntpath",       "numbers",
                                "opcode",       "operator",
                                "optparse",     "os",
                                "pathlib",      "pdb",
                                "pickle",       "pickletools",
                                "pipes",        "pkgutil",
                                "platform",     "plistlib",
                                "poplib",       "posix",
                                "posixpath",    "pprint",
                                "profile",      "pstats",
                                "pty",          "pwd",
                                "py_compile",   "pyclbr",
                                "pydoc",        "queue",
                                "quopri",       "random",
                                "re",           "readline",
                                "reprlib",      "resource",
                                "rlcompleter",  "runpy",
                                "sched",        "secrets",
                                "select",       "selectors",
                                "shelve",       "shlex",
                                "shutil",       "signal",
                                "site",         "smtplib",
                                "sndhdr",       "socket",
                                "socketserver", "spwd",
                                "sqlite3",      "ssl",
                                "stat",         "statistics",
                                "string",       "stringprep",
                                "struct",       "subprocess",
                                "sunau",        "symtable",
                                "sys",          "sysconfig",
                                "syslog",       "tabnanny",
                                "tarfile",      "telnetlib",
                                "tempfile",     "termios",
                                "textwrap",     "threading",
                                "time",         "timeit",
                                "tkinter",      "token",
                                "tokenize",     "tomllib",
                                "trace",        "traceback",
                                "tracemalloc",  "tty",
                                "turtle",       "types",
                                "typing",       "unicodedata",
                                "unittest",     "urllib",
                                "uu",           "uuid",
                                "venv",         "warnings",
                                "wave",         "weakref",
                                "webbrowser",   "wsgiref",
                                "xdrlib",       "xml",
                                "xmlrpc",       "zipapp",
                                "zipfile",      "zipimport",
                                "zlib",         "zoneinfo",
                                "numpy",        "torch",
                                "triton",       "pytest",
                                "matplotlib",   "pandas",
                                "yaml",         "tqdm"};
  return roots.count(name.substr(0, name.find('.'))) != 0;
}

std::shared_ptr<Module> Interpreter::loadedModule(const std::string &name) const {
  auto it = impl->natives.find(name);
  return it == impl->natives.end() ? nullptr : it->second;
}

std::shared_ptr<Module> Interpreter::nativeModule(const std::string &name) {
  if (auto it = impl->natives.find(name); it != impl->natives.end())
    return it->second;
  const NativeModules &registered = impl->options.modules;
  if (!registered.hasPrefix(name))
    return nullptr;
  // A package is there before its modules, whose first lines ask it for names.
  if (size_t dot = name.find('.'); dot != std::string::npos) {
    nativeModule(name.substr(0, dot));
    if (auto it = impl->natives.find(name); it != impl->natives.end())
      return it->second;
  }
  auto module = std::make_shared<Module>(name);
  impl->natives.emplace(name, module);
  module->fallback = [name](Interpreter &interpreter,
                            std::string_view attribute) -> std::optional<Value> {
    std::string path = name + "." + std::string(attribute);
    if (auto sub = interpreter.nativeModule(path))
      return Value(sub);
    if (attribute.starts_with("__"))
      return std::nullopt;
    return Value(std::make_shared<Opaque>(path, interpreter.location()));
  };
  if (auto *fillers = registered.find(name))
    for (const auto &fill : *fillers)
      fill(*this, *module);
  return module;
}

// ---- files
// ---------------------------------------------------------------------------------------------------------

std::string canonical(const std::string &path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(path, error);
  return error ? path : result.string();
}

bool isFile(const std::string &path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}
static bool isFolder(const std::string &path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::string folderOf(const std::string &path) {
  std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Runs a module's statements. It stays registered while it runs, so that cycles of imports end.
static void execute(Interpreter &interpreter, const std::shared_ptr<Module> &module,
                    bool defersImports = false) {
  Interpreter::State &state = interpreter.state();
  ActiveScope running(interpreter);
  module->globals->set("__name__", Value(module->name));
  module->globals->set("__file__", Value(module->syntax->file->path()));
  const auto &body = module->syntax->body;
  auto *first = body.empty() ? nullptr : as<ExprStmt>(body[0].get());
  auto *text = first ? as<Constant>(first->value.get()) : nullptr;
  bool isDocumented = text && text->type == Constant::Type::String;
  module->globals->set("__doc__", isDocumented ? Value(text->text) : Value());
  module->globals->set("__spec__", Value());
  if (module->isPackage)
    module->globals->set("__path__", Value::list({Value(module->packageFolder)}));
  size_t dot = module->name.rfind('.');
  module->globals->set("__package__",
                       Value(module->isPackage          ? module->name
                             : dot == std::string::npos ? ""
                                                        : module->name.substr(0, dot)));
  auto scope = std::make_shared<Scope>();
  scope->form = Scope::Form::Module;
  scope->names = scope->globals = module->globals;
  scope->module = module->syntax;
  SourceLocation site = interpreter.location();
  PlaceGuard place(state);
  uint32_t guards = std::exchange(state.importGuards, 0);
  std::vector<Frame> callers = std::exchange(state.frames, {});
  state.frames.push_back({nullptr, scope, std::move(site)});
  state.module = module->syntax.get();
  struct Restore {
    Interpreter::State &state;
    std::vector<Frame> &callers;
    uint32_t guards;
    ~Restore() {
      state.frames = std::move(callers);
      state.importGuards = guards;
      --state.importDepth;
    }
  } restore{state, callers, guards};
  ++state.importDepth;
  if (state.order.size() > 2000 && !state.options.script)
    interpreter.refuse("more than 2000 modules are imported");
  if (state.importDepth > state.options.maxDepth)
    interpreter.refuse("imports are nested more than " + std::to_string(state.options.maxDepth) +
                       " deep");
  Evaluator evaluator(interpreter, scope);
  evaluator.defersErrors = state.options.defersFileErrors;
  evaluator.defersImports = defersImports || state.options.defersMissingImports;
  BudgetScope budget(&state.budget);
  try {
    evaluator.run(module->syntax->body);
  } catch (...) {
    rethrowInSentences(interpreter, [] { return std::string("the statement"); });
  }
}

static std::shared_ptr<Module> runFile(Interpreter &interpreter, const std::string &name,
                                       const std::string &path, bool isPackage,
                                       bool defersImports = false) {
  Interpreter::State &state = interpreter.state();
  std::string key = canonical(path);
  if (auto it = state.files.find(key); it != state.files.end())
    return it->second;
  auto file = SourceFile::open(path);
  if (!file)
    throw DiagnosticError(SourceLocation(path),
                          std::string("cannot read the file: ") + std::strerror(errno));
  auto module = std::make_shared<Module>(name);
  module->isPackage = isPackage;
  module->packageFolder = folderOf(path);
  module->syntax = parseModule(file);
  if (isPackage) // `import a.b` hangs b on the shell that stood for `a` before its __init__ ran
    module->fallback = [shell = canonical(module->packageFolder) +
                                "/"](Interpreter &interpreter,
                                     std::string_view attribute) -> std::optional<Value> {
      auto it = interpreter.state().files.find(shell);
      const Value *found =
          it == interpreter.state().files.end() ? nullptr : it->second->globals->find(attribute);
      return found ? std::optional(*found) : std::nullopt;
    };
  state.ownedModules.push_back(module->syntax);
  state.files.emplace(key, module);
  state.order.push_back(module);
  try {
    execute(interpreter, module, defersImports);
  } catch (...) {
    state.files.erase(key);
    throw;
  }
  return module;
}

/// What a package's __init__ binds `name` to, where its text says so without being run: to one
/// text, once. `from .. import __version__` is asked in the middle of reading the package, where
/// Python would have run the __init__ long before; to run it now would read all that the package
/// offers while half of it is unfinished.
static std::optional<Value> literalOf(const std::string &init, std::string_view name) {
  auto file = SourceFile::open(init);
  if (!file)
    return std::nullopt;
  std::shared_ptr<const syntax::Module> text = parseModule(file);
  const Constant *literal = nullptr;
  for (const auto &stmt : text->body) {
    auto *import = as<ImportFrom>(stmt.get());
    if (import && import->names[0].name == "*")
      return std::nullopt;
    if (!namesBoundBy(*stmt).count(name))
      continue;
    auto *assignment = as<Assign>(stmt.get());
    if (literal || !assignment || assignment->targets.size() != 1 ||
        !as<Name>(assignment->targets[0].get()))
      return std::nullopt;
    literal = as<Constant>(assignment->value.get());
    if (!literal || literal->type != Constant::Type::String)
      return std::nullopt;
  }
  return literal ? std::optional(Value(literal->text)) : std::nullopt;
}

std::shared_ptr<Module> shellFor(Interpreter &interpreter, const std::string &name,
                                 const std::string &folder) {
  Interpreter::State &state = interpreter.state();
  std::string key = canonical(folder) + "/";
  if (auto it = state.files.find(key); it != state.files.end())
    return it->second;
  auto module = std::make_shared<Module>(name);
  module->isPackage = true;
  module->packageFolder = folder;
  state.files.emplace(key, module);
  module->fallback = [name, folder](Interpreter &interpreter,
                                    std::string_view attribute) -> std::optional<Value> {
    std::string init = folder + "/" + std::string(packageFile);
    if (!isFile(init))
      return std::nullopt;
    if (!interpreter.state().files.count(canonical(init)))
      if (auto literal = literalOf(init, attribute))
        return literal;
    // Python would have run it before the submodule that asks now; what it imports may be that one.
    return interpreter.findAttr(Value(runFile(interpreter, name, init, true, true)), attribute);
  };
  return module;
}

std::shared_ptr<Module> findIn(Interpreter &interpreter, const std::string &folder,
                               const std::string &part, const std::string &fullName,
                               bool runPackage) {
  std::string base = folder + "/" + part;
  if (isFile(base + ".py"))
    return runFile(interpreter, fullName, base + ".py", false);
  std::string init = base + "/" + std::string(packageFile);
  if (isFile(init))
    return runPackage ? runFile(interpreter, fullName, init, true)
                      : shellFor(interpreter, fullName, base);
  if (isFolder(base))
    return shellFor(interpreter, fullName, base);
  return nullptr;
}

std::shared_ptr<Module> findUnder(Interpreter &interpreter, const std::string &root,
                                  const std::string &dotted, const std::string &prefix) {
  std::string folder = root;
  std::shared_ptr<Module> module;
  for (size_t begin = 0; begin <= dotted.size();) {
    size_t dot = std::min(dotted.find('.', begin), dotted.size());
    std::string part = dotted.substr(begin, dot - begin);
    auto next =
        findIn(interpreter, folder, part, prefix + dotted.substr(0, dot), dot == dotted.size());
    if (!next)
      return nullptr;
    if (module)
      module->globals->set(part, Value(next));
    if (dot < dotted.size() && !next->isPackage)
      return nullptr;
    folder = next->packageFolder;
    module = next;
    begin = dot + 1;
  }
  return module;
}

/// Folders where absolute imports look: the importing file's, the first file's, the parents of
/// packages they lie in, then the options', then sys.path of a script.
static std::vector<std::string> searchFolders(Interpreter &interpreter) {
  Interpreter::State &state = interpreter.state();
  std::vector<std::string> folders;
  auto addWithPackageRoot = [&](std::string folder) {
    folders.push_back(folder);
    while (isFile(folder + "/" + std::string(packageFile)))
      folder = folderOf(canonical(folder));
    folders.push_back(folder);
  };
  if (state.module && state.module->file)
    addWithPackageRoot(folderOf(state.module->file->path()));
  if (!state.order.empty() && state.order.front()->syntax)
    addWithPackageRoot(folderOf(state.order.front()->syntax->file->path()));
  folders.insert(folders.end(), state.options.searchRoots.begin(), state.options.searchRoots.end());
  // A script may change sys.path.
  if (state.options.script)
    if (const Value *path = interpreter.nativeModule("sys")->globals->find("path");
        path && path->isSequence())
      for (const Value &folder : path->elements())
        if (folder.isStr())
          folders.push_back(folder.str().empty() ? "." : folder.str());
  return folders;
}

Value findModule(Interpreter &interpreter, const std::string &dotted) {
  if (auto native = interpreter.nativeModule(dotted))
    return Value(native);
  std::string root = dotted.substr(0, dotted.find('.'));
  bool isNativeRoot = interpreter.nativeModule(root) != nullptr;
  if (dotted.starts_with("triton.language."))
    return tritonLanguageName(dotted.substr(std::string_view("triton.language.").size()));
  // Libraries of compiled code: what of them is Python cannot run without it.
  static const NameSet compiled = {"numpy", "pandas", "scipy", "matplotlib", "PIL", "sklearn"};
  if (!isNativeRoot && !compiled.count(root))
    for (const std::string &folder : searchFolders(interpreter))
      if (auto found = findUnder(interpreter, folder, dotted))
        return Value(found);
  // A script's own import fails as Python's; what is known stands for itself until it is used.
  bool isScript = interpreter.options().script.has_value(),
       isGuarded = interpreter.state().importGuards != 0;
  if (isScript ? !isKnownLibrary(dotted) || (isGuarded && isThirdParty(dotted))
               : isGuarded && !isKnownLibrary(dotted))
    interpreter.raise("ModuleNotFoundError", "No module named '" + dotted + "'");
  return Value(std::make_shared<Opaque>(dotted, interpreter.location()));
}

// ---- entry points
// --------------------------------------------------------------------------------------------------

/// The dotted name a file has inside the packages around it: a/__init__.py, a/b.py -> "a.b".
static std::string nameInPackages(const std::string &path) {
  fs::path file(canonical(path));
  bool isInit = file.filename() == packageFile;
  std::string name = isInit ? file.parent_path().filename().string() : file.stem().string();
  if (isInit)
    file = file.parent_path();
  for (fs::path folder = file.parent_path(); isFile((folder / packageFile).string());
       folder = folder.parent_path())
    name = folder.filename().string() + "." + name;
  return name;
}

static std::string fileInPackages(const std::string &path) {
  fs::path file(canonical(path)), name = file.filename();
  for (fs::path folder = file.parent_path(); isFile((folder / packageFile).string());
       folder = folder.parent_path())
    name = folder.filename() / name;
  return name.string();
}

std::map<std::string, std::string> Interpreter::sourceNames() const {
  std::map<std::string, std::string> names;
  for (const std::shared_ptr<Module> &module : impl->order) {
    if (!module->syntax)
      continue;
    if (const std::string &path = module->syntax->file->path(); isFile(path))
      names[path] = fileInPackages(path);
  }
  return names;
}

std::shared_ptr<Module> Interpreter::importFile(const std::string &path) {
  return runFile(*this, nameInPackages(path), path, fs::path(path).filename() == packageFile);
}

std::shared_ptr<Module> Interpreter::runScript(const std::string &path) {
  return runFile(*this, "__main__", path, false);
}

std::shared_ptr<Module> Interpreter::importSource(const std::string &name,
                                                  std::shared_ptr<const SourceFile> file) {
  auto module = std::make_shared<Module>(name);
  module->packageFolder = folderOf(file->path());
  module->syntax = parseModule(file);
  impl->ownedModules.push_back(module->syntax);
  impl->files.emplace("source:" + std::to_string(impl->order.size()) + ":" + name, module);
  impl->order.push_back(module);
  execute(*this, module);
  return module;
}

const std::vector<Diagnostic> &Interpreter::passedRaises() const { return impl->passedRaises; }

Value Interpreter::importModule(const std::string &name) { return findModule(*this, name); }

bool isInstalled(Interpreter &interpreter, const std::string &name) {
  std::string root = name.substr(0, name.find('.'));
  if (interpreter.nativeModule(root))
    return true;
  for (const std::string &folder : searchFolders(interpreter))
    if (isFile(folder + "/" + root + ".py") ||
        isFile(folder + "/" + root + "/" + std::string(packageFile)))
      return true;
  return false;
}

Value importInstalled(Interpreter &interpreter, const std::string &name) {
  Value module = findModule(interpreter, name);
  if (module.as<Opaque>() && !isKnownLibrary(name))
    interpreter.raise("ModuleNotFoundError", "No module named '" + name + "'");
  return module;
}

} // namespace pellucid::host
