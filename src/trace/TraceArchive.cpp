// SPDX-License-Identifier: Apache-2.0
#include "graph/ProgramText.h"
#include "trace/ArchiveReplay.h"
#include "trace/ArchiveWeights.h"
#include "trace/WriteArchive.h"

#include <algorithm>
#include <functional>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using archive::Archive;
using AKind = archive::Argument::Kind;

ArchiveReplay::ArchiveReplay(const Archive &a, const TraceOptions &o, OddGuards g)
    : archive(a), options(o), odd(g), text(a), hooks(&tracer),
      interpreter(beginTrace(tracer, hooks, declaredSymbols(a), options)) {}

Program ArchiveReplay::run(const std::vector<std::string> &kernels) {
  try {
    for (const std::string &path : kernels)
      interpreter->importFile(path);
    tracer.endConstruction();
    setConstructing(*interpreter, false);
    refuseMissing(archive, tracer, *interpreter);
    bindInputs();
    checkedGuards = applyGuards(archive, scope, tracer, *interpreter, options, odd);
    replay(*archive.graph, scope);
    finish();
  } catch (const DiagnosticError &error) {
    throw DiagnosticError(placed(error.diagnostic));
  }
  tracer.program.sourceNames = interpreter->sourceNames();
  return std::move(tracer.program);
}

void ArchiveReplay::fail(const std::string &message) const {
  throw DiagnosticError(SourceLocation(archive.path), message);
}

/// At the node that was being replayed, where the complaint has no place of the user's.
Diagnostic ArchiveReplay::placed(Diagnostic diagnostic) const {
  diagnostic = atUsersLine(std::move(diagnostic));
  if (!diagnostic.location.known())
    diagnostic.location = current.known() ? current : SourceLocation(archive.path);
  return diagnostic;
}

/// The program that an archive of ours holds; its weights are the archive's.
static Program takeProgram(const Archive &archive) {
  auto fail = [&](const std::string &message) {
    throw DiagnosticError(SourceLocation(archive.path), message);
  };
  std::string_view text = archive.ownProgram;
  std::string head = programRecordHead(archive.graphText);
  if (!text.starts_with(head))
    fail("record '" + std::string(programRecord) +
         "' is of another graph than the one beside it, which was changed since; export it again");
  Program program = parseProgram(std::make_shared<SourceFile>(
      archive.path + ":" + std::string(programRecord), std::string(text.substr(head.size()))));
  for (auto &[name, weight] : program.weights) {
    const archive::Tensor *tensor = nullptr;
    for (const auto *table : {&archive.weights, &archive.constants})
      if (auto entry = table->find(name); entry != table->end())
        tensor = &entry->second;
    if (!tensor || tensor->dtype != weight.dtype || tensor->sizes != weight.shape ||
        !isRowMajor(*tensor))
      fail("holds no tensor '" + name + "' of the type that its program gives it");
    weight = weightAt(*tensor, weight.shape);
  }
  return program;
}

/// A size that PyTorch takes for two or more because the example's was: its own programs run with
/// one, too. Whether there are such sizes.
static bool admitOne(Archive &archive) {
  bool any = false;
  for (auto &[symbol, range] : archive.ranges)
    if (range.min == 2) {
      range.min = 1;
      any = true;
    }
  return any;
}

/// Sizes of which PyTorch assumed two or more where it traced the operators: whether some were
/// admitted beyond that.
static bool excludeOne(Archive &archive, const TraceOptions &options) {
  bool any = false;
  for (auto &[symbol, range] : archive.ranges)
    if (auto hint = archive.hints.find(symbol);
        range.min < 2 && range.max >= 2 && hint != archive.hints.end() && hint->second >= 2) {
      range.min = 2;
      any = true;
      options.note("'" + symbol +
                   "' is at least 2 in this package: with less, the operators of the model would "
                   "give other dims");
    }
  return any;
}

Program traceArchive(const std::string &path, const std::vector<std::string> &kernels,
                     const TraceOptions &options) {
  Archive archive = archive::readArchive(path);
  if (!archive.ownProgram.empty()) {
    if (!kernels.empty())
      throw DiagnosticError(SourceLocation("--kernels"),
                            "is for operators whose kernels an archive lacks; '" + path +
                                "' holds its own");
    return takeProgram(archive);
  }
  // What a guard says may be needed to tell what the operators do: then it narrows the sizes.
  std::vector<std::function<void()>> said;
  TraceOptions quiet = options;
  quiet.warn = [&](Diagnostic diagnostic) {
    said.push_back([&options, diagnostic] { options.warn(diagnostic); });
  };
  quiet.note = [&](const std::string &text) {
    said.push_back([&options, text] { options.note(text); });
  };
  auto sayAll = [&] {
    for (const auto &say : said)
      say();
  };
  auto ranges = archive.ranges;
  if (admitOne(archive))
    try {
      Program program = ArchiveReplay(archive, quiet).run(kernels);
      sayAll();
      return program;
    } catch (const DiagnosticError &) {
      // What it says of the sizes that the archive names counts.
      said.clear();
      archive.ranges = ranges;
    }
  ArchiveReplay replay(archive, quiet);
  try {
    Program program = replay.run(kernels);
    sayAll();
    return program;
  } catch (const DiagnosticError &) {
    for (OddGuards odd : {OddGuards::Multiples, OddGuards::Narrowing})
      try {
        if (replay.checkedGuards == 0)
          break;
        said.clear();
        Program program = ArchiveReplay(archive, quiet, odd).run(kernels);
        sayAll();
        return program;
      } catch (const DiagnosticError &) {
        // The first says what is missing.
      }
    auto first = std::move(said);
    said.clear();
    if (excludeOne(archive, quiet))
      try {
        Program program = ArchiveReplay(archive, quiet).run(kernels);
        sayAll();
        return program;
      } catch (const DiagnosticError &) {
        // So does it here.
      }
    said = std::move(first);
    sayAll();
    throw;
  }
}

} // namespace pellucid::trace
