// SPDX-License-Identifier: Apache-2.0
#include "driver/ShareKernels.h"

#include "driver/KernelKey.h"
#include "support/Diagnostics.h"
#include "tt/Tt.h"
#include "tt/TtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <bit>
#include <map>
#include <set>

namespace pellucid::driver {

using namespace graph;

namespace {

/// Fewer kernels than this are worth their own code.
constexpr size_t fewestShared = 4;

/// A kernel with its numbers apart. `shape` is equal for kernels that one could stand for.
struct Candidate {
  uint32_t kernel;
  Node *launch;
  std::string shape;
  std::vector<double> numbers;
};

/// NaN of other bits would not come through a conversion.
bool keepsItsBits(const llvm::APFloat &value) {
  return !value.isNaN() || value.bitwiseIsEqual(llvm::APFloat::getQNaN(value.getSemantics()));
}

/// The numbers that an argument can carry exactly, in the order of the text.
std::vector<mlir::arith::ConstantOp> numbersOf(mlir::ModuleOp module) {
  std::vector<mlir::arith::ConstantOp> numbers;
  module.walk([&](mlir::arith::ConstantOp constant) {
    auto value = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue());
    if (value && (value.getType().isF32() || value.getType().isF64()) &&
        keepsItsBits(value.getValue()))
      numbers.push_back(constant);
  });
  return numbers;
}

double valueOf(mlir::arith::ConstantOp constant) {
  return mlir::cast<mlir::FloatAttr>(constant.getValue()).getValueAsDouble();
}

/// A guess that is cheap: the text without numbers, names and places. Kernels that differ in it
/// differ in more than numbers.
std::string outlineOf(const KernelDef &kernel) {
  std::string outline;
  const std::string &text = kernel.ttir;
  constexpr std::string_view constant = "arith.constant ";
  for (size_t at = text.find("tt.func"); at < text.size();) {
    if (text.compare(at, constant.size(), constant) == 0) {
      at = std::min(text.find(" : ", at), text.size());
    } else if (text.compare(at, 4, "loc(") == 0) {
      at = text.find(')', at);
      at = at == std::string::npos ? text.size() : at + 1;
    } else if (isdigit(static_cast<unsigned char>(text[at])) || text[at] == '-' ||
               text[at] == '+') {
      ++at;
    } else if (text.compare(at, kernel.symbol.size(), kernel.symbol) == 0) {
      at += kernel.symbol.size();
    } else {
      outline += text[at++];
    }
  }
  return outline.substr(0, outline.find("#loc"));
}

class Sharing {
public:
  Sharing(Program &p, mlir::MLIRContext &c) : program(p), context(c) {}

  void run(size_t first) {
    std::map<std::string, std::vector<Candidate>> byOutline, byShape;
    for (auto &[kernel, nodes] : launchesOf(first))
      if (nodes.size() == 1 && !saysItsName(program.kernels[kernel].ttir))
        byOutline[outlineOf(program.kernels[kernel])].push_back({kernel, nodes[0], {}, {}});
    for (auto &[outline, candidates] : byOutline) {
      if (candidates.size() < fewestShared)
        continue;
      for (Candidate &candidate : candidates)
        if (takeApart(candidate))
          byShape[candidate.shape].push_back(std::move(candidate));
    }
    for (auto &[shape, candidates] : byShape)
      if (candidates.size() >= fewestShared)
        share(candidates);
  }

private:
  Program &program;
  mlir::MLIRContext &context;

  /// Kernels that are launched in one way only, and where.
  std::map<uint32_t, std::vector<Node *>> launchesOf(size_t first) {
    std::map<uint32_t, std::vector<Node *>> launches;
    for (Node &node : program.main)
      if (const Launch *launch = node.launch())
        for (const LaunchVariant &variant : launch->variants)
          if (variant.kernel >= first && !program.kernels[variant.kernel].ttir.empty())
            // Twice for a launch of several variants, so that none of them is shared.
            launches[variant.kernel].insert(launches[variant.kernel].end(), launch->variants.size(),
                                            &node);
    return launches;
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(uint32_t kernel) {
    Diagnostics ignored;
    return tt::parseTtir(program.kernels[kernel].ttir, &context, ignored,
                         program.kernels[kernel].symbol);
  }

  bool takeApart(Candidate &candidate) {
    const KernelDef &kernel = program.kernels[candidate.kernel];
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(candidate.kernel);
    auto function = module ? module->lookupSymbol<tt::FuncOp>(kernel.symbol) : tt::FuncOp();
    if (!function)
      return false;
    for (mlir::arith::ConstantOp constant : numbersOf(*module)) {
      candidate.numbers.push_back(valueOf(constant));
      constant.setValueAttr(mlir::FloatAttr::get(constant.getType(), 0.0));
    }
    function.setName("kernel");
    candidate.shape = shapeOf(kernel, *candidate.launch) + tt::printTtir(*module);
    return true;
  }

  /// What beside its code must be the same.
  static std::string shapeOf(const KernelDef &kernel, const Node &node) {
    const LaunchVariant &variant = node.launch()->variants[0];
    std::string shape = std::to_string(variant.numWarps) + " " + std::to_string(variant.numStages) +
                        " " + std::to_string(variant.numCtas);
    for (const KernelParameter &parameter : kernel.parameters)
      shape += " " + parameter.name + " " + std::to_string(static_cast<int>(parameter.kind)) + " " +
               std::to_string(static_cast<int>(parameter.dtype)) + " " +
               std::to_string(static_cast<int>(parameter.access)) + " " +
               std::to_string(parameter.divisor);
    return shape + "\n";
  }

  static bool sameNumbers(const std::vector<Candidate> &candidates, size_t at) {
    return llvm::all_of(candidates, [&](const Candidate &one) {
      return std::bit_cast<uint64_t>(one.numbers[at]) ==
             std::bit_cast<uint64_t>(candidates[0].numbers[at]);
    });
  }

  /// The first kernel gets arguments for the numbers in which they differ, and all launches.
  void share(const std::vector<Candidate> &candidates) {
    uint32_t shared = candidates[0].kernel;
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(shared);
    KernelDef &kernel = program.kernels[shared];
    auto function = module->lookupSymbol<tt::FuncOp>(kernel.symbol);
    std::vector<mlir::arith::ConstantOp> constants = numbersOf(*module);
    std::vector<std::pair<std::string, size_t>> arguments; // a name and which number
    for (size_t at = 0; at < constants.size(); ++at) {
      if (sameNumbers(candidates, at))
        continue;
      mlir::arith::ConstantOp constant = constants[at];
      KernelParameter parameter;
      parameter.name = freeName(kernel);
      parameter.kind = KernelParameter::Kind::Scalar;
      parameter.dtype = constant.getType().isF64() ? DataType::Float64 : DataType::Float32;
      unsigned index = function.getNumArguments();
      (void)function.insertArgument(index, constant.getType(), {}, constant.getLoc());
      constant.replaceAllUsesWith(function.getArgument(index));
      constant.erase();
      arguments.emplace_back(parameter.name, at);
      kernel.parameters.push_back(std::move(parameter));
    }
    kernel.ttir = tt::printTtir(*module, tt::TtirVersion::V3_6, true);
    for (const Candidate &candidate : candidates) {
      Launch launch = *candidate.launch->launch();
      launch.variants[0].kernel = shared;
      for (auto &[name, at] : arguments)
        launch.operands.push_back({name, Argument(candidate.numbers[at]), Access::None, false});
      candidate.launch->setLaunch(std::move(launch));
    }
  }

  static std::string freeName(const KernelDef &kernel) {
    std::set<std::string> taken;
    for (const KernelParameter &parameter : kernel.parameters)
      taken.insert(parameter.name);
    size_t next = 0;
    while (taken.count("c" + std::to_string(next)))
      ++next;
    return "c" + std::to_string(next);
  }
};

} // namespace

void shareKernels(Program &program, size_t first, mlir::MLIRContext &context) {
  Sharing(program, context).run(first);
}

} // namespace pellucid::driver
