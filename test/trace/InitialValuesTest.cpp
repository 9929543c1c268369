// SPDX-License-Identifier: Apache-2.0
// What module constructors draw is what PyTorch's draw for the same seed, bit for bit
// (record_initial_values.py), and asking for values in another order, or for some of them only,
// changes none.
#include "TraceFixture.h"
#include "trace/CpuGenerator.h"

#include <cinttypes>
#include <cstdio>

namespace pellucid::trace {
namespace {

class InitialValues : public TextTrace {
protected:
  graph::Program made(uint64_t seed, std::string statements) {
    for (size_t at; (at = statements.find("; ")) != std::string::npos;)
      statements.replace(at, 2, "\n        ");
    options.seed = seed;
    inputs.clear();
    input("x", {1});
    return trace("class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                 "        " +
                     statements + "\n    def forward(self, x):\n        return x\n",
                 "Net");
  }
};

std::string described(const std::string &name, const graph::Weight &weight) {
  uint64_t hash = 0xCBF29CE484222325;
  for (uint64_t i = 0; i < weight.bytes; ++i)
    hash = (hash ^ static_cast<uint8_t>(weight.data.get()[i])) * 0x100000001B3;
  std::string shape;
  for (int64_t size : weight.shape)
    shape += (shape.empty() ? "" : "x") + std::to_string(size);
  char text[32];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return "  " + name + " " + std::string(info(weight.dtype).cli) + " " +
         (shape.empty() ? "-" : shape) + " " + text;
}

TEST_F(InitialValues, areThoseOfPyTorch) {
  std::ifstream file(std::string(PELLUCID_SOURCE_DIR) + "/test/trace/initial_values.expected");
  ASSERT_TRUE(file);
  graph::Program program;
  std::string heading;
  size_t compared = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#"))
      continue;
    if (!line.starts_with("  ")) {
      heading = line;
      size_t bar = line.find(" | ");
      try {
        program = made(std::stoull(line.substr(0, bar)), line.substr(bar + 3));
      } catch (const DiagnosticError &error) {
        ADD_FAILURE() << heading << "\n" << error.what();
        program = {};
      }
      continue;
    }
    std::string name = line.substr(2, line.find(' ', 2) - 2);
    auto found = program.weights.find(name);
    if (found == program.weights.end()) {
      ADD_FAILURE() << heading << "\nlacks " << name;
      continue;
    }
    EXPECT_EQ(described(name, found->second), line) << heading;
    ++compared;
  }
  EXPECT_GT(compared, 250u);
}

HostDraw normals(int64_t count, DataType type = DataType::Float32) {
  HostDraw draw;
  draw.kind = HostDraw::Kind::Normal;
  draw.dtype = type;
  draw.shape = {count};
  return draw;
}

/// Of every kind, with counts that leave a rest and half of a pair of normal numbers.
std::vector<HostDraw> manyDraws() {
  std::vector<HostDraw> draws;
  for (DataType type :
       {DataType::Float32, DataType::Float64, DataType::BFloat16, DataType::Float16})
    for (int64_t count : {0, 1, 3, 15, 16, 17, 40, 1000})
      for (int kind = 0; kind <= int(HostDraw::Kind::Orthogonal); ++kind) {
        HostDraw draw = normals(count, type);
        draw.kind = static_cast<HostDraw::Kind>(kind);
        draw.a = draw.kind == HostDraw::Kind::Uniform ? 0 : 0.5;
        draw.low = -2;
        draw.high = 2;
        draw.range = 100;
        if (draw.kind == HostDraw::Kind::Orthogonal)
          draw.shape = {1, count};
        if (draw.kind == HostDraw::Kind::Integers || draw.kind == HostDraw::Kind::Permutation)
          draw.dtype = DataType::Int64;
        draws.push_back(draw);
      }
  return draws;
}

TEST(CpuGenerator, valuesDoNotDependOnWhatIsAskedFor) {
  auto first = std::make_shared<CpuGenerator>(3), second = std::make_shared<CpuGenerator>(3);
  std::vector<std::shared_ptr<const CpuGenerator::Handle>> all, some;
  for (const HostDraw &draw : manyDraws()) {
    all.push_back(first->draw(draw));
    some.push_back(second->draw(draw));
  }
  std::vector<DrawnValues> values;
  for (const auto &handle : all)
    values.push_back(handle->values());
  // The last first: all before it are passed over.
  for (size_t i = some.size(); i-- > 0;) {
    DrawnValues again = some[i]->values();
    EXPECT_EQ(again.reals, values[i].reals) << i;
    EXPECT_EQ(again.integers, values[i].integers) << i;
  }
}

TEST(CpuGenerator, manyNormalsAreThoseOfFewerDraws) {
  // Blocks of 16 know nothing of each other, so that parts of whole blocks are the same numbers.
  constexpr int64_t part = 1 << 19, parts = 5, rest = 48;
  auto whole = std::make_shared<CpuGenerator>(7), inParts = std::make_shared<CpuGenerator>(7);
  std::vector<float> all = whole->draw(normals(parts * part + rest))->values().singles, joined;
  for (int64_t i = 0; i <= parts; ++i) {
    std::vector<float> some = inParts->draw(normals(i < parts ? part : rest))->values().singles;
    joined.insert(joined.end(), some.begin(), some.end());
  }
  ASSERT_EQ(all.size(), joined.size());
  EXPECT_TRUE(all == joined);
  EXPECT_TRUE(whole->draw(normals(32))->values().singles ==
              inParts->draw(normals(32))->values().singles);
}

TEST(CpuGenerator, returnsToAMark) {
  auto generator = std::make_shared<CpuGenerator>(1);
  generator->draw(normals(3));
  size_t mark = generator->mark();
  auto before = generator->draw(normals(5));
  generator->seed(9);
  EXPECT_EQ(generator->initialSeed(), 9u);
  auto seeded = generator->draw(normals(5));
  generator->returnTo(mark);
  EXPECT_EQ(generator->initialSeed(), 1u);
  auto after = generator->draw(normals(5));
  EXPECT_EQ(after->values().reals, before->values().reals);
  EXPECT_NE(seeded->values().reals, before->values().reals);
}

TEST_F(InitialValues, ofFilesComeBeforeThoseOfModels) {
  inputs.clear();
  input("x", {1});
  options.seed = 4;
  auto first = [&](const char *above) {
    graph::Program program =
        trace(std::string(above) +
                  "\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                  "        self.w = nn.Parameter(torch.rand(3))\n"
                  "    def forward(self, x):\n        return x + self.w[0]\n",
              "Net");
    return described("w", program.weights.at("w"));
  };
  EXPECT_NE(first("unused = torch.rand(1)"), first(""));
  EXPECT_EQ(first("with torch.random.fork_rng():\n    unused = torch.rand(1)"), first(""));
  EXPECT_EQ(first("torch.manual_seed(-1)"), first("torch.manual_seed(2**64 - 1)"));
  EXPECT_EQ(first("torch.manual_seed(4)"), first(""));
}

TEST_F(InitialValues, refusals) {
  inputs.clear();
  input("x", {4});
  auto inConstructor = [&](const std::string &statement) {
    return refusal("class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                   "        self.w = nn.Parameter(torch.empty(8, 4))\n        " +
                       statement + "\n    def forward(self, x):\n        return x\n",
                   "Net");
  };
  EXPECT_TRUE(has(inConstructor("self.w.t().normal_()"), "a view that is not contiguous"));
  EXPECT_TRUE(has(inConstructor("self.w.bernoulli_(self.w)"), "a tensor of probabilities"));
  EXPECT_TRUE(has(inConstructor("torch.seed()"), "use manual_seed()"));
  EXPECT_TRUE(has(inConstructor("torch.Generator('cuda')"), "there is no such device"));
  EXPECT_TRUE(
      has(inConstructor("torch.set_rng_state(self.w)"), "RNG state must be a torch.ByteTensor"));
  EXPECT_TRUE(has(inConstructor("nn.init.trunc_normal_(self.w, std=0.0)"), "a std above 0"));
  EXPECT_TRUE(
      has(inConstructor("F.dropout(self.w, 0.5)"), "is not supported where a module is made"));
  EXPECT_TRUE(
      has(refusal("def f(x):\n    torch.manual_seed(0)\n    return x + torch.rand(4)\n", "f"),
          "a program draws from the seed and offset of its run"));
  EXPECT_TRUE(
      has(refusal("def f(x):\n    return x + torch.rand(4, generator=torch.Generator())\n", "f"),
          "leave generator out"));
}

} // namespace
} // namespace pellucid::trace
