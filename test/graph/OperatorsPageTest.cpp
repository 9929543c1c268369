// SPDX-License-Identifier: Apache-2.0
// docs/operators.md lists what the running registry has: every operator, by the file that registers
// it. `graph_operators_page_test --fix` writes it anew.
#include "graph/ops/Families.h"
#include "trace/Derivatives.h"
#include "trace/TraceHooks.h"
#include "trace/TraceSession.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

using namespace pellucid::graph;

namespace {

struct Family {
  const char *file, *title;
  void (*registerAll)(OperatorRegistry &);
};

const Family families[] = {
    {"Pointwise", "Arithmetic and elementary functions", registerPointwiseOperators},
    {"Comparison", "Comparison and selection", registerComparisonOperators},
    {"Activations", "Activations", registerActivationOperators},
    {"Casts", "Casts", registerCastOperators},
    {"Reductions", "Reductions", registerReductionOperators},
    {"Rows", "Rows: softmax and norms", registerRowOperators},
    {"Attention", "Attention", registerAttentionOperators},
    {"Gemm", "Products", registerGemmOperators},
    {"Convolutions", "Convolutions", registerConvolutionOperators},
    {"Views", "Views", registerViewOperators},
    {"Copies", "Copies", registerCopyOperators},
    {"Factories", "New tensors", registerFactoryOperators},
    {"Random", "Random numbers", registerRandomOperators},
    {"Gathers", "Gathers", registerGatherOperators},
    {"Scatters", "Scatters", registerScatterOperators},
    {"Lines", "Lines: running sums and orders", registerLineOperators},
    {"Assertions", "Assertions", registerAssertionOperators},
};

std::vector<std::string> targetsOf(const Family &family) {
  OperatorRegistry registry(nullptr);
  family.registerAll(registry);
  return registry.targets();
}

const std::string path = PELLUCID_SOURCE_DIR "/docs/operators.md";

/// What test/archive/op_db.py writes behind the list.
std::string sectionOnCore() {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  size_t at = text.str().find("\n## Core ATen");
  return at == std::string::npos ? std::string() : text.str().substr(at);
}

/// What stands behind an operator that takes a tensor: whether its gradient is known.
class States {
public:
  States() {
    pellucid::trace::Tracer tracer;
    pellucid::trace::TraceHooks hooks(&tracer);
    auto interpreter = pellucid::trace::beginTrace(tracer, hooks, {}, {});
    for (const std::string &target : pellucid::trace::derivativeTargets(*interpreter, true))
      formulas.insert(target);
    for (const std::string &target : pellucid::trace::derivativeTargets(*interpreter, false))
      without.insert(target);
  }
  std::string of(const Operator &op) const {
    bool takesTensor = false;
    for (const SchemaArgument &argument : op.schema.arguments)
      takesTensor |= argument.type.kind == SchemaType::Kind::Tensor;
    if (formulas.count(op.target()))
      return "  # differentiable";
    return !takesTensor || without.count(op.target()) ? "" : "  # its derivative is missing";
  }

private:
  std::set<std::string> formulas, without;
};

std::string page() {
  States states;
  std::ostringstream text;
  text << "# Operators\n\n"
          "What a graph may hold besides kernels and users' operators, as the registry says it "
          "(`scripts/check_names.py --fix`\nwrites this page from a build). Names, overloads and "
          "schemas are PyTorch's; what decomposes is one record too.\n`torch.NAME`, `Tensor.NAME`, "
          "`torch.nn.functional.NAME` and `torch.nn` modules lead to them where PyTorch's do. "
          "Behind an operator stands\nwhether it is differentiable ([autograd.md](autograd.md)); "
          "the "
          "others give no float, or what no gradient goes through.\n\n"
       << OperatorRegistry::builtins().targets().size() << " operators.\n";
  for (const Family &family : families) {
    text << "\n## " << family.title << "\n\n[`" << family.file << ".cpp`](../src/graph/ops/"
         << family.file << ".cpp)\n\n```\n";
    std::set<std::string> schemas;
    for (const std::string &target : targetsOf(family))
      schemas.insert(printSchema(OperatorRegistry::builtins().find(target)->schema) +
                     states.of(*OperatorRegistry::builtins().find(target)));
    for (const std::string &schema : schemas)
      text << schema << "\n";
    text << "```\n";
  }
  return text.str() + sectionOnCore();
}

TEST(OperatorsPage, ListsWhatTheRegistryHas) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page()) << "run scripts/check_names.py --fix";
}

TEST(OperatorsPage, EveryOperatorIsInOneFamily) {
  std::multiset<std::string> found;
  for (const Family &family : families)
    for (const std::string &target : targetsOf(family))
      found.insert(target);
  std::vector<std::string> all = OperatorRegistry::builtins().targets();
  EXPECT_EQ(std::vector<std::string>(found.begin(), found.end()), all);
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--fix") {
    std::string text = page(); // of the file as it is, before it is opened anew
    return (std::ofstream(path) << text).flush() ? 0 : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
