// SPDX-License-Identifier: Apache-2.0
/// What every verb shares: its command line, its two output forms and its exit codes.
#pragma once

#include "support/Diagnostics.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace pellucid::cli {

enum ExitCode { Ok = 0, Refused = 1, InternalError = 2 };

/// The words after the verb.
struct Words {
  int count;
  const char *const *values;
};

/// A CLI11 application for `verb` with a one-line description, --json and an example in its --help.
/// Examples name files of examples/ or what an earlier verb's example wrote, so that they work as
/// they stand.
class VerbLine {
public:
  VerbLine(std::string verb, std::string description, std::string example, std::string remark = "");
  CLI::App &app() { return application; }
  bool json() const { return jsonWanted; }

  /// Parses; when false, the verb ends with exitCode() (help was printed, or the mistake was).
  bool parse(Words words);
  int exitCode() const { return code; }

private:
  CLI::App application;
  std::string verb;
  bool jsonWanted = false;
  int code = Ok;
};

/// Adds an option that may be given several times, each time with one value. Options show
/// `option_text` in --help.
CLI::Option *addRepeated(CLI::App &app, const std::string &name, std::vector<std::string> &values,
                         const std::string &description);

/// Prints the diagnostic to standard error and gives exit code 1.
int refuse(const Diagnostic &diagnostic);
int refuse(const Diagnostics &diagnostics);
/// `ARGUMENT: error: message`, where `argument` is as the user typed it.
int refuse(const std::string &argument, const std::string &message);

/// The first bytes of a regular file, enough to know what it is; empty for everything else.
std::string firstBytes(const std::string &path);

/// Throws a DiagnosticError at `argument` when the file to write is `other`, a file that is read or
/// written as well.
void refuseSameFile(const std::string &argument, const std::string &path, const std::string &other);

/// One JSON object on standard output.
void printJson(const nlohmann::json &value);

// One function per verb, each in the file of its name.
int runKernels(Words words);
int runLaunch(Words words);
int runExport(Words words);
int runCompile(Words words);
int runRun(Words words);
int runInspect(Words words);
int runExplain(Words words);
int runProfile(Words words);
int runBench(Words words);
int runDoctor(Words words);

} // namespace pellucid::cli
