// SPDX-License-Identifier: Apache-2.0
/// Files, folders and the environment, as a script sees them. The modules around these functions
/// are written in Python (modules/os.py, io.py, …).
#include "host/ByteString.h"
#include "host/InterpreterState.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

extern "C" char **environ;

namespace pellucid::host {

namespace fs = std::filesystem;
using Bound = std::vector<Value>;

namespace {

/// The exception class that Python has for an error number.
const char *errorClassName(int error) {
  switch (error) {
  case ENOENT:
    return "FileNotFoundError";
  case EEXIST:
    return "FileExistsError";
  case EACCES:
  case EPERM:
    return "PermissionError";
  case EISDIR:
    return "IsADirectoryError";
  case ENOTDIR:
    return "NotADirectoryError";
  case EPIPE:
    return "BrokenPipeError";
  default:
    return "OSError";
  }
}

[[noreturn]] void raiseError(Interpreter &interpreter, int error, const std::string &path) {
  Value exception =
      makeException(interpreter, interpreter.builtinClass(errorClassName(error)),
                    {Value(int64_t(error)), Value(std::strerror(error)), Value(path)});
  noteRaised(interpreter, exception);
  throw RaisedError(
      Diagnostic(Severity::Error, interpreter.location(),
                 std::string(errorClassName(error)) + ": " + interpreter.str(exception)),
      exception);
}

[[noreturn]] void raiseError(Interpreter &interpreter, const std::error_code &error,
                             const std::string &path) {
  raiseError(interpreter, error.value(), path);
}

/// A str, or what has __fspath__.
std::string pathOf(Interpreter &interpreter, const Value &value) {
  if (auto *instance = value.as<Instance>())
    if (auto method = instance->special(interpreter, "__fspath__"))
      return interpreter.toStr(interpreter.call(*method), "__fspath__()'s result");
  if (!value.isStr())
    interpreter.raise("TypeError",
                      "expected str, bytes or os.PathLike object, not " + typeName(value));
  if (value.str().find('\0') != std::string::npos)
    interpreter.raise("ValueError", "embedded null byte");
  return value.str();
}

/// A file that is open for writing; it is closed with the last that holds it.
class WrittenFile : public Object {
public:
  WrittenFile(std::FILE *f, std::string p) : file(f), path(std::move(p)) {}
  ~WrittenFile() override {
    if (file)
      std::fclose(file);
  }
  std::string typeName() const override { return "_io.FileIO"; }
  std::FILE *file;
  std::string path;
};

WrittenFile &openFileOf(Interpreter &interpreter, const Value &value) {
  auto &file = value.expect<WrittenFile>("a file");
  if (!file.file)
    interpreter.raise("ValueError", "I/O operation on closed file.");
  return file;
}

Value readWhole(Interpreter &interpreter, Bound &a) {
  std::string path = pathOf(interpreter, a[0]), text;
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    raiseError(interpreter, errno, path);
  char buffer[1 << 16];
  ssize_t count = 0;
  while ((count = ::read(fd, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<size_t>(count));
  int error = errno;
  ::close(fd);
  if (count < 0)
    raiseError(interpreter, error, path);
  return Value(std::move(text));
}

Value openToWrite(Interpreter &interpreter, Bound &a) {
  std::string path = pathOf(interpreter, a[0]);
  const std::string &mode = interpreter.toStr(a[1], "the mode"); // w, a or x
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC |
              (mode == "a"   ? O_APPEND
               : mode == "x" ? O_EXCL
                             : O_TRUNC);
  int fd = ::open(path.c_str(), flags, 0666);
  std::FILE *file = fd < 0 ? nullptr : ::fdopen(fd, mode == "a" ? "a" : "w");
  if (!file)
    raiseError(interpreter, errno, path);
  return Value(std::make_shared<WrittenFile>(file, path));
}

const std::string &bytesGiven(Interpreter &interpreter, const Value &value) {
  auto *bytes = value.as<ByteString>();
  if (!bytes)
    interpreter.raise("TypeError",
                      "a bytes-like object is required, not '" + typeName(value) + "'");
  return *bytes->bytes;
}

void addFileBytes(Module &m) {
  addFunction(m, "read_bytes", "path", [](Interpreter &i, Bound &a) {
    return Value(std::make_shared<ByteString>(readWhole(i, a).str()));
  });
  addFunction(m, "no_bytes", "",
              [](Interpreter &, Bound &) { return Value(std::make_shared<ByteString>("")); });
  addFunction(m, "is_bytes", "value",
              [](Interpreter &, Bound &a) { return Value(a[0].as<ByteString>() != nullptr); });
  // `size` bytes of `held` from `begin`; -1: all.
  addFunction(m, "bytes_from", "held, begin, size", [](Interpreter &i, Bound &a) {
    const std::string &held = bytesGiven(i, a[0]);
    auto begin = static_cast<size_t>(i.toInt64(a[1], "a place"));
    int64_t size = i.toInt64(a[2], "a size");
    if (begin >= held.size())
      return Value(std::make_shared<ByteString>(""));
    return Value(std::make_shared<ByteString>(
        held.substr(begin, size < 0 ? held.npos : static_cast<size_t>(size))));
  });
  // `held` with `more` written over it from `at` on; zeros where it did not reach so far.
  addFunction(m, "bytes_with", "held, at, more", [](Interpreter &i, Bound &a) {
    std::string held = bytesGiven(i, a[0]);
    const std::string &more = bytesGiven(i, a[2]);
    auto at = static_cast<size_t>(i.toInt64(a[1], "a place"));
    if (held.size() < at + more.size())
      held.resize(at + more.size());
    held.replace(at, more.size(), more);
    return Value(std::make_shared<ByteString>(std::move(held)));
  });
  addFunction(m, "write_bytes", "file, bytes", [](Interpreter &i, Bound &a) {
    WrittenFile &file = openFileOf(i, a[0]);
    const std::string &bytes = bytesGiven(i, a[1]);
    if (std::fwrite(bytes.data(), 1, bytes.size(), file.file) != bytes.size())
      raiseError(i, errno, file.path);
    return Value(static_cast<int64_t>(bytes.size()));
  });
}

void addFiles(Module &m) {
  addFileBytes(m);
  addFunction(m, "read_file", "path", readWhole);
  addFunction(m, "open_to_write", "path, mode", openToWrite);
  addFunction(m, "write", "file, text", [](Interpreter &i, Bound &a) {
    WrittenFile &file = openFileOf(i, a[0]);
    const std::string &text = i.toStr(a[1], "write() argument");
    if (std::fwrite(text.data(), 1, text.size(), file.file) != text.size())
      raiseError(i, errno, file.path);
    return i.length(a[1]);
  });
  addFunction(m, "flush", "file", [](Interpreter &i, Bound &a) {
    WrittenFile &file = openFileOf(i, a[0]);
    if (std::fflush(file.file) != 0)
      raiseError(i, errno, file.path);
    return Value();
  });
  addFunction(m, "position", "file", [](Interpreter &i, Bound &a) {
    return Value(static_cast<int64_t>(std::ftell(openFileOf(i, a[0]).file)));
  });
  addFunction(m, "close", "file", [](Interpreter &i, Bound &a) {
    auto &file = a[0].expect<WrittenFile>("a file");
    if (file.file && std::fclose(std::exchange(file.file, nullptr)) != 0)
      raiseError(i, errno, file.path);
    return Value();
  });
  addFunction(m, "stdout_write", "text", [](Interpreter &i, Bound &a) {
    i.hooks().output(i.toStr(a[0], "write() argument"));
    return i.length(a[0]);
  });
  addFunction(m, "stderr_write", "text", [](Interpreter &i, Bound &a) {
    i.hooks().errorOutput(i.toStr(a[0], "write() argument"));
    return i.length(a[0]);
  });
  addFunction(m, "flush_output", "", [](Interpreter &i, Bound &) {
    i.hooks().flushOutput();
    return Value();
  });
  addFunction(m, "isatty", "fd", [](Interpreter &i, Bound &a) {
    return Value(::isatty(static_cast<int>(i.toInt64(a[0], "fd"))) != 0);
  });
  addFunction(m, "stdin_line", "", [](Interpreter &i, Bound &) {
    i.hooks().flushOutput();
    std::string line;
    for (int c = 0; c != '\n' && (c = std::getchar()) != EOF;)
      line += static_cast<char>(c);
    return Value(line);
  });
}

/// One call of the system that takes a path and gives nothing.
void addCall(Module &m, const char *name, int (*call)(const char *)) {
  addFunction(m, name, "path", [call](Interpreter &i, Bound &a) {
    std::string path = pathOf(i, a[0]);
    if (call(path.c_str()) != 0)
      raiseError(i, errno, path);
    return Value();
  });
}

void addQuestion(Module &m, const char *name, bool (*test)(const fs::path &, std::error_code &)) {
  addFunction(m, name, "path", [test](Interpreter &i, Bound &a) {
    std::error_code error;
    return Value(test(pathOf(i, a[0]), error));
  });
}

void addFolders(Module &m) {
  addCall(m, "remove", ::unlink);
  addCall(m, "rmdir", ::rmdir);
  addCall(m, "chdir", ::chdir);
  addFunction(m, "mkdir", "path, mode=511", [](Interpreter &i, Bound &a) {
    std::string path = pathOf(i, a[0]);
    if (::mkdir(path.c_str(), static_cast<mode_t>(i.toInt64(a[1], "mode"))) != 0)
      raiseError(i, errno, path);
    return Value();
  });
  addFunction(m, "rename", "src, dst", [](Interpreter &i, Bound &a) {
    std::string from = pathOf(i, a[0]), to = pathOf(i, a[1]);
    if (std::rename(from.c_str(), to.c_str()) != 0)
      raiseError(i, errno, from);
    return Value();
  });
  addFunction(m, "listdir", "path='.'", [](Interpreter &i, Bound &a) {
    std::string path = pathOf(i, a[0]);
    std::error_code error;
    List names;
    fs::directory_iterator entry(path, error), end;
    for (; !error && entry != end; entry.increment(error))
      names.emplace_back(entry->path().filename().string());
    if (error)
      raiseError(i, error, path);
    return Value::list(std::move(names));
  });
  addQuestion(m, "exists", [](const fs::path &p, std::error_code &e) { return fs::exists(p, e); });
  addQuestion(m, "isfile",
              [](const fs::path &p, std::error_code &e) { return fs::is_regular_file(p, e); });
  addQuestion(m, "isdir",
              [](const fs::path &p, std::error_code &e) { return fs::is_directory(p, e); });
  addQuestion(m, "islink",
              [](const fs::path &p, std::error_code &e) { return fs::is_symlink(p, e); });
  addFunction(m, "stat", "path", [](Interpreter &i, Bound &a) {
    std::string path = pathOf(i, a[0]);
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0)
      raiseError(i, errno, path);
    auto time = [](const timespec &t) {
      return Value(static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec));
    };
    return Value::tuple({Value(static_cast<int64_t>(info.st_mode)),
                         Value(static_cast<int64_t>(info.st_size)), time(info.st_mtim),
                         time(info.st_atim), time(info.st_ctim)});
  });
  addFunction(m, "getcwd", "", [](Interpreter &i, Bound &) {
    std::error_code error;
    fs::path folder = fs::current_path(error);
    if (error)
      raiseError(i, error, ".");
    return Value(folder.string());
  });
  addFunction(m, "realpath", "path", [](Interpreter &i, Bound &a) {
    std::error_code error;
    std::string path = pathOf(i, a[0]);
    fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
    return Value(error ? path : real.string());
  });
  addFunction(m, "copyfile", "src, dst", [](Interpreter &i, Bound &a) {
    std::string from = pathOf(i, a[0]), to = pathOf(i, a[1]);
    std::error_code error;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    if (error)
      raiseError(i, error, from);
    return Value();
  });
  addFunction(m, "make_temporary", "pattern, is_folder", [](Interpreter &i, Bound &a) {
    std::string path = pathOf(i, a[0]);
    bool isFolder = i.truth(a[1]);
    int fd = isFolder ? -1 : ::mkstemp(path.data());
    if (isFolder ? !::mkdtemp(path.data()) : fd < 0)
      raiseError(i, errno, path);
    if (fd >= 0)
      ::close(fd);
    return Value(path);
  });
  m.globals->set("fspath", native("fspath", "path",
                                  [](Interpreter &i, Bound &a) { return Value(pathOf(i, a[0])); }));
}

void addEnvironment(Module &m) {
  addFunction(m, "environment", "", [](Interpreter &, Bound &) {
    Dict out;
    for (char **entry = environ; entry && *entry; ++entry)
      if (const char *equals = std::strchr(*entry, '='))
        out.set(Value(std::string(static_cast<const char *>(*entry), equals)), Value(equals + 1));
    return Value::dict(std::move(out));
  });
  addFunction(m, "setenv", "name, value", [](Interpreter &i, Bound &a) {
    const std::string &name = i.toStr(a[0], "str expected"), &value = i.toStr(a[1], "str expected");
    if (::setenv(name.c_str(), value.c_str(), 1) != 0)
      raiseError(i, errno, name);
    return Value();
  });
  addFunction(m, "unsetenv", "name", [](Interpreter &i, Bound &a) {
    ::unsetenv(i.toStr(a[0], "str expected").c_str());
    return Value();
  });
  addFunction(m, "getpid", "", [](Interpreter &, Bound &) { return Value(int64_t(::getpid())); });
  addFunction(m, "cpu_count", "", [](Interpreter &, Bound &) {
    return Value(int64_t(::sysconf(_SC_NPROCESSORS_ONLN)));
  });
}

} // namespace

void fillScriptFiles(Module &m) {
  addFiles(m);
  addFolders(m);
  addEnvironment(m);
}

} // namespace pellucid::host
