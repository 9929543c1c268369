// SPDX-License-Identifier: Apache-2.0
/// Data beside the source: open() for reading, and the part of yaml that tables of configs are
/// written in.
#include "host/InterpreterState.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace pellucid::host {

namespace fs = std::filesystem;
using Bound = std::vector<Value>;

namespace {

constexpr uintmax_t mostFileBytes = 16 << 20;
constexpr unsigned mostNesting = 100;

// ---- files
// ---------------------------------------------------------------------------------------------------------

/// The outermost package around a file, or its folder.
fs::path projectOf(const fs::path &file) {
  std::error_code error;
  fs::path folder = fs::weakly_canonical(file, error).parent_path();
  while (folder.has_parent_path() && fs::exists(folder / "__init__.py", error) &&
         fs::exists(folder.parent_path() / "__init__.py", error))
    folder = folder.parent_path();
  return folder;
}

/// Whether the file lies beside or below the sources that were read; nothing else may decide what
/// is compiled.
bool isBesideSource(Interpreter &interpreter, const fs::path &path) {
  std::error_code error;
  std::string file = fs::weakly_canonical(path, error).string();
  for (const auto &module : interpreter.state().order) {
    // The modules that come with the evaluator lie nowhere.
    if (!module->syntax || !module->syntax->file || module->syntax->file->path().starts_with("<"))
      continue;
    std::string folder = projectOf(module->syntax->file->path()).string() + "/";
    if (file.starts_with(folder))
      return true;
  }
  return false;
}

std::string readBeside(Interpreter &interpreter, const std::string &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    interpreter.raise("FileNotFoundError", "[Errno 2] No such file or directory: '" + path + "'");
  if (!isBesideSource(interpreter, path))
    interpreter.refuse("'" + path +
                       "' is not read: only files beside the source, or below the "
                       "package that it lies in, may decide what is compiled");
  if (fs::file_size(path, error) > mostFileBytes)
    interpreter.refuse("'" + path + "' has more than " + std::to_string(mostFileBytes) +
                       " bytes, which is the limit for files that host code reads");
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The text of a file object, or a text itself.
std::string documentText(Interpreter &interpreter, const Value &source, const char *function) {
  if (source.isStr())
    return source.str();
  auto read = interpreter.findAttr(source, "read");
  if (!read)
    interpreter.raise("TypeError",
                      std::string(function) + " needs a text or a file, got " + typeName(source));
  return interpreter.toStr(interpreter.call(*read), "a file's text");
}

Value openFile(Interpreter &interpreter, Bound &a) {
  std::string path = interpreter.str(a[0]), mode = interpreter.toStr(a[1], "open()'s mode");
  if (mode != "r" && mode != "rt")
    interpreter.refuse("open() with mode '" + mode +
                       "' is not supported in host code; files are "
                       "read as text, with mode 'r'");
  Value text(readBeside(interpreter, path));
  static const std::shared_ptr<Class> cls = [] {
    auto c = Class::make("TextIOWrapper", "io");
    auto method = [&](const char *name, NativeFunction::RawBody body) {
      c->attributes.set(name, nativeRaw(name, std::move(body)));
    };
    auto content = [](const CallArgs &args) {
      return args.positional[0].expect<Instance>("an open file").attributes.at("text");
    };
    method("read", [content](Interpreter &, CallArgs args) { return content(args); });
    method("readlines", [content](Interpreter &i, CallArgs args) {
      return i.call(i.getAttr(content(args), "splitlines"), {Value(true)});
    });
    method("__enter__", [](Interpreter &, CallArgs args) { return args.positional.at(0); });
    method("__exit__", [](Interpreter &, CallArgs) { return Value(false); });
    method("close", [](Interpreter &, CallArgs) { return Value(); });
    return c;
  }();
  auto file = std::make_shared<Instance>(cls);
  file->attributes.set("text", text);
  return Value(file);
}

// ---- scalars of both notations
// -------------------------------------------------------------------------------------

std::optional<Value> numberInFile(std::string_view text) {
  if (text.empty())
    return std::nullopt;
  const char *begin = text.data() + (text[0] == '+'), *end = text.data() + text.size();
  int64_t integer = 0;
  if (auto [stop, status] = std::from_chars(begin, end, integer);
      status == std::errc() && stop == end)
    return Value(integer);
  double real = 0;
  bool isNumber = text.find_first_of("0123456789") != text.npos &&
                  text.find_first_not_of("0123456789+-.eE") == text.npos;
  if (auto [stop, status] = std::from_chars(begin, end, real);
      isNumber && status == std::errc() && stop == end)
    return Value(real);
  return std::nullopt;
}

/// Reads JSON; and, of YAML, the flow notation, whose texts need no quotes.
class FlowReader {
public:
  FlowReader(Interpreter &i, std::string_view t, bool plain)
      : interpreter(i), text(t), plain(plain) {}

  Value whole() {
    Value value = read(0);
    skip();
    if (at != text.size())
      fail("nothing more");
    return value;
  }

private:
  [[noreturn]] void fail(const std::string &expected) {
    size_t line = 1 + static_cast<size_t>(std::count(
                          text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    interpreter.raise("ValueError",
                      "expected " + expected + " in line " + std::to_string(line) + " of the data");
  }
  void skip() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  bool take(char c) {
    skip();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  Value read(unsigned depth) {
    if (depth > mostNesting)
      fail("fewer than " + std::to_string(mostNesting) + " levels");
    skip();
    if (take('{'))
      return mapping(depth);
    if (take('['))
      return sequence(depth);
    if (at < text.size() && (text[at] == '"' || (plain && text[at] == '\'')))
      return Value(quoted());
    return word();
  }

  Value mapping(unsigned depth) {
    Dict out;
    if (take('}'))
      return Value::dict(std::move(out));
    do {
      Value key = read(depth + 1);
      if (!take(':'))
        fail("':'");
      out.set(key, read(depth + 1));
    } while (take(','));
    if (!take('}'))
      fail("'}'");
    return Value::dict(std::move(out));
  }

  Value sequence(unsigned depth) {
    List out;
    if (take(']'))
      return Value::list(std::move(out));
    do
      out.push_back(read(depth + 1));
    while (take(','));
    if (!take(']'))
      fail("']'");
    return Value::list(std::move(out));
  }

  std::string quoted() {
    char quote = text[at++];
    std::string out;
    while (at < text.size() && text[at] != quote) {
      if (text[at] == '\\' && quote == '"' && at + 1 < text.size()) {
        ++at;
        static constexpr std::string_view names = "ntrbf", values = "\n\t\r\b\f";
        if (text[at] == 'u')
          fail("a text without \\u");
        size_t known = names.find(text[at]);
        out += known == names.npos ? text[at] : values[known];
      } else {
        out += text[at];
      }
      ++at;
    }
    if (at == text.size())
      fail("the end of a text");
    ++at;
    return out;
  }

  Value word() {
    size_t begin = at;
    std::string_view ends = plain ? ",]}{[:\n" : " \t\r\n,]}{[:";
    while (at < text.size() && ends.find(text[at]) == ends.npos)
      ++at;
    std::string_view found = text.substr(begin, at - begin);
    while (!found.empty() && found.back() == ' ')
      found.remove_suffix(1);
    if (found == "true" || found == "false" || (plain && (found == "True" || found == "False")))
      return Value(found[0] == 't' || found[0] == 'T');
    if (found == "null" || (plain && (found == "~" || found.empty())))
      return Value();
    if (auto number = numberInFile(found))
      return *number;
    if (!plain)
      fail("a value");
    return Value(std::string(found));
  }

  Interpreter &interpreter;
  std::string_view text;
  bool plain;
  size_t at = 0;
};

// ---- yaml
// ----------------------------------------------------------------------------------------------------------

/// Block mappings and sequences of scalars and of flow notation; refuses what else YAML has.
class YamlReader {
public:
  YamlReader(Interpreter &i, const std::string &text) : interpreter(i) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      addLine(line);
  }

  Value whole() {
    if (lines.empty())
      return Value();
    Value value = block(lines.front().indent, 0);
    if (next != lines.size())
      fail("lines that are indented alike");
    return value;
  }

private:
  struct Line {
    size_t indent;
    std::string text;
  };

  [[noreturn]] void fail(const std::string &expected) {
    interpreter.refuse("this YAML is not supported in host code: expected " + expected +
                       (next < lines.size() ? ", got '" + lines[next].text + "'" : ""));
  }

  void addLine(std::string line) {
    char quote = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (quote ? line[i] == quote : line[i] == '"' || line[i] == '\'')
        quote = quote ? 0 : line[i];
      if (!quote && line[i] == '#' && (i == 0 || line[i - 1] == ' ')) {
        line.resize(i);
        break;
      }
    }
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r'))
      line.pop_back();
    size_t indent = line.find_first_not_of(' ');
    if (indent != line.npos && line != "---")
      lines.push_back({indent, line.substr(indent)});
  }

  static bool isItem(const Line &line) { return line.text == "-" || line.text.starts_with("- "); }

  Value block(size_t indent, unsigned depth) {
    if (depth > mostNesting)
      fail("fewer than " + std::to_string(mostNesting) + " levels");
    return isItem(lines[next]) ? sequence(indent, depth) : mapping(indent, depth);
  }

  Value sequence(size_t indent, unsigned depth) {
    List out;
    while (next < lines.size() && lines[next].indent == indent && isItem(lines[next])) {
      Line &line = lines[next];
      size_t content = line.text.find_first_not_of(' ', 1);
      if (content == line.text.npos) {
        ++next;
        out.push_back(nested(indent, depth));
        continue;
      }
      // What follows the dash stands as if in a line of its own.
      line.indent += content;
      line.text.erase(0, content);
      out.push_back(colonOf(line.text) != line.text.npos || isItem(line)
                        ? block(line.indent, depth + 1)
                        : scalar(lines[next++].text));
    }
    return Value::list(std::move(out));
  }

  Value mapping(size_t indent, unsigned depth) {
    Dict out;
    while (next < lines.size() && lines[next].indent == indent && !isItem(lines[next])) {
      const std::string &text = lines[next].text;
      size_t colon = colonOf(text);
      if (colon == text.npos)
        fail("KEY: VALUE");
      Value key = scalar(text.substr(0, colon));
      size_t begin = text.find_first_not_of(' ', colon + 1);
      if (begin != text.npos) {
        out.set(key, scalar(text.substr(begin)));
        ++next;
      } else {
        ++next;
        out.set(key, nested(indent, depth));
      }
    }
    if (next < lines.size() && lines[next].indent > indent)
      fail("lines that are indented alike");
    return Value::dict(std::move(out));
  }

  /// What stands below a key or a dash: a deeper block, a sequence at the key's own indent, or
  /// nothing.
  Value nested(size_t indent, unsigned depth) {
    bool isDeeper = next < lines.size() && lines[next].indent > indent;
    bool isSequence = next < lines.size() && lines[next].indent == indent && isItem(lines[next]);
    return isDeeper || isSequence ? block(lines[next].indent, depth + 1) : Value();
  }

  /// The colon that ends a key.
  static size_t colonOf(const std::string &text) {
    if (text[0] == '{' || text[0] == '[')
      return text.npos;
    char quote = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if (quote ? text[i] == quote : text[i] == '"' || text[i] == '\'')
        quote = quote ? 0 : text[i];
      if (!quote && text[i] == ':' && (i + 1 == text.size() || text[i + 1] == ' '))
        return i;
    }
    return text.npos;
  }

  Value scalar(const std::string &text) {
    static constexpr std::string_view others = "&*!|>%@`";
    if (others.find(text[0]) != others.npos)
      fail("no anchors, tags or texts over several lines");
    bool isFlow = text[0] == '{' || text[0] == '[' || text[0] == '"' || text[0] == '\'';
    if (isFlow)
      return FlowReader(interpreter, text, true).whole();
    static const NameSet yes = {"true", "True", "TRUE"}, no = {"false", "False", "FALSE"},
                         null = {"null", "Null", "NULL", "~"};
    if (yes.count(text) || no.count(text))
      return Value(yes.count(text) != 0);
    if (null.count(text))
      return Value();
    if (auto number = numberInFile(text))
      return *number;
    return Value(text);
  }

  Interpreter &interpreter;
  std::vector<Line> lines;
  size_t next = 0;
};

Value loadYaml(Interpreter &interpreter, Bound &a) {
  return YamlReader(interpreter, documentText(interpreter, a[0], "yaml.load()")).whole();
}

void fillYaml(Interpreter &, Module &m) {
  m.globals->set("safe_load", native("yaml.safe_load", "stream", loadYaml));
  m.globals->set("load", native("yaml.load", "stream, Loader=None", loadYaml));
}

/// Questions about files beside the source; all others are not there.
void fillPaths(Interpreter &, Module &m) {
  auto ask = [&](const char *name, bool (*test)(const fs::path &)) {
    m.globals->set(name, native(m.name + "." + name, "path", [test](Interpreter &i, Bound &a) {
                     std::string path = i.str(a[0]);
                     return Value(test(path) && isBesideSource(i, path));
                   }));
  };
  ask("exists", [](const fs::path &path) {
    std::error_code error;
    return fs::exists(path, error);
  });
  ask("isfile", [](const fs::path &path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
  });
  ask("isdir", [](const fs::path &path) {
    std::error_code error;
    return fs::is_directory(path, error);
  });
}

} // namespace

void addDataFiles(Interpreter &interpreter) {
  interpreter.state().builtins.set(
      "open",
      native("open", "file, mode='r', buffering=-1, encoding=None, errors=None, newline=None",
             openFile));
}

void addDataModules(NativeModules &modules) {
  modules.add("yaml", fillYaml);
  modules.add("os.path", fillPaths);
}

} // namespace pellucid::host
