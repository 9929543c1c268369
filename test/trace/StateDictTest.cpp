// SPDX-License-Identifier: Apache-2.0
/// What a model is when it is traced: its state_dict against the file's, types of its parts, and
/// eval().
#include "TraceFixture.h"

#include <cstring>

namespace pellucid::trace {
namespace {

class StateDict : public TextTrace {
protected:
  void SetUp() override {
    TextTrace::SetUp();
    input("x", {2, 4});
  }
};

const char *const model = R"py(
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.tied = self.linear
        self.register_buffer("kept", torch.ones(4))
        self.register_buffer("dropped", torch.full((4,), 3.0), persistent=False)
        self.plain = torch.full((4,), 5.0)

    def forward(self, x):
        return self.linear(x) * self.kept + self.dropped + self.plain
)py";

TEST_F(StateDict, allNamesAndShapesInOneError) {
  options.weights = {{"linear.weight", weight({4, 3}, 1)},
                     {"dropped", weight({4}, 9)},
                     {"plain", weight({4}, 9)},
                     {"extra.weight", weight({4}, 9)}};
  std::string said = refusal(model, "Net");
  EXPECT_TRUE(has(said, "missing: 'linear.bias', 'kept'")) << said;
  EXPECT_TRUE(has(said, "not in the model: 'dropped', 'extra.weight', 'plain'")) << said;
  EXPECT_TRUE(has(said, "'linear.weight' has shape [4, 3] in the file and [4, 4] in the model"))
      << said;
  EXPECT_TRUE(has(said, "--no-strict-weights")) << said;
  options.strictWeights = false;
  said = refusal(model, "Net");
  EXPECT_TRUE(has(said, "[4, 3]") && !has(said, "missing")) << said;
}

TEST_F(StateDict, notStrictTakesWhatIsThere) {
  options.weights = {{"linear.weight", weight({4, 4}, 1)}, {"extra", weight({4}, 9)}};
  options.strictWeights = false;
  graph::Program program = trace(model, "Net");
  EXPECT_EQ(program.weights.at("linear.weight").data, options.weights.at("linear.weight").data);
  EXPECT_TRUE(program.weights.count("linear.bias"));
}

// Their values are the constructor's, whatever the file holds.
TEST_F(StateDict, buffersThatAreNotPersistentKeepTheirValues) {
  options.weights = {{"linear.weight", weight({4, 4}, 1)},
                     {"linear.bias", weight({4}, 1)},
                     {"kept", weight({4}, 2)}};
  graph::Program program = trace(model, "Net");
  auto first = [&](const char *name) {
    float value;
    std::memcpy(&value, program.weights.at(name).data.get(), sizeof value);
    return value;
  };
  EXPECT_EQ(first("kept"), 2.0f);
  EXPECT_EQ(first("dropped"), 3.0f);
  EXPECT_EQ(first("plain"), 5.0f);
  for (const auto &spec : program.inputs)
    if (spec.name == "dropped" || spec.name == "kept")
      EXPECT_EQ(spec.persistent, spec.name == "kept") << spec.name;
}

const char *const tied = R"py(
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4, bias=False)
        self.b = nn.Linear(4, 4, bias=False)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.a(x))
)py";

TEST_F(StateDict, tiedTensors) {
  options.weights = {{"b.weight", weight({4, 4}, 1)}};
  EXPECT_EQ(refusal(tied, "Net"), "");
  options.weights["a.weight"] = weight({4, 4}, 1);
  EXPECT_EQ(refusal(tied, "Net"), "");
  options.weights["a.weight"] = weight({4, 4}, 2);
  EXPECT_TRUE(has(refusal(tied, "Net"), "'a.weight' and 'b.weight' are one tensor"));
}

TEST_F(StateDict, batchNormCounts) {
  const char *const text = R"py(
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.bn(x)
)py";
  for (const char *name : {"weight", "bias", "running_mean", "running_var"})
    options.weights["bn." + std::string(name)] = weight({4}, 1);
  EXPECT_EQ(refusal(text, "Net"), "");
  graph::Weight count;
  count.path = "w.safetensors";
  count.dtype = DataType::Int64;
  auto data = std::make_shared<int64_t>(7);
  count.bytes = 8;
  count.data = {data, reinterpret_cast<const std::byte *>(data.get())};
  options.weights["bn.num_batches_tracked"] = count;
  EXPECT_EQ(refusal(text, "Net"), "");
}

// --- types

std::string typesOf(const graph::Program &program) {
  std::string text;
  for (const auto &[name, weight] : program.weights)
    text += name + ":" + std::string(info(weight.dtype).cli) + " ";
  return text;
}

const char *const parts = R"py(
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((4,), 0.1))
        self.register_buffer("b", torch.ones(4))
        self.register_buffer("i", torch.ones(4, dtype=torch.int64))
        self.plain = torch.ones(4)

    def forward(self, x):
        return x * self.weight + self.b + self.i + self.plain

class Net(nn.Module):
    def __init__(self, how="none"):
        super().__init__()
        self.part = Part()
        if how == "dtype":
            self.part.to(torch.float16)
        elif how == "keyword":
            self.part = self.part.to(device="cpu", dtype=torch.float16)
        elif how == "both":
            self.part.to("cuda", torch.float16)
        elif how == "tensor":
            self.part.to(torch.zeros(1, dtype=torch.float16))
        elif how == "half":
            self.part.half()
        elif how == "double":
            self.part.double()
        elif how == "type":
            self.part.type(torch.float16)
        elif how == "device":
            self.part.to("cuda").cpu().cuda(0)
        elif how == "int":
            self.part.to(torch.int32)
        elif how == "format":
            self.part.to(memory_format=torch.channels_last)

    def forward(self, x):
        return self.part(x)
)py";

TEST_F(StateDict, partsAreConverted) {
  auto types = [&](const char *how) {
    options.init = {{"how", "'" + std::string(how) + "'"}};
    return typesOf(trace(parts, "Net"));
  };
  const std::string single = "part.b:f32 part.i:i64 part.plain:f32 part.weight:f32 ",
                    half = "part.b:f16 part.i:i64 part.plain:f32 part.weight:f16 ";
  EXPECT_EQ(types("none"), single);
  EXPECT_EQ(types("device"), single);
  for (const char *how : {"dtype", "keyword", "both", "tensor", "half"})
    EXPECT_EQ(types(how), half) << how;
  EXPECT_EQ(types("double"), "part.b:f64 part.i:i64 part.plain:f32 part.weight:f64 ");
  EXPECT_EQ(types("type"), "part.b:f16 part.i:f16 part.plain:f32 part.weight:f16 ");
  options.init = {{"how", "'int'"}};
  EXPECT_TRUE(has(refusal(parts, "Net"), "only accepts floating point"));
  options.init = {{"how", "'format'"}};
  EXPECT_EQ(types("format"), single);
}

// --- eval()

TEST_F(StateDict, aModelIsCompiledAsAfterEval) {
  const char *const text = R"py(
class Net(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.was_training = self.training
        self.drop = nn.Dropout(p)
        self.train()

    def forward(self, x):
        assert self.was_training and not self.training
        return F.dropout(self.drop(x), 0.5, self.training)
)py";
  trace(text, "Net");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(has(notes[0], "as after eval()") &&
              has(notes[0], "Dropout(0.5) passes its input on") &&
              has(notes[0], "'training' is False in Net.forward"))
      << notes[0];
  notes.clear();
  trace("class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.drop = nn.Dropout(0.0)\n"
        "    def forward(self, x):\n        return self.drop(x)\n",
        "Net");
  EXPECT_EQ(notes, std::vector<std::string>());
}

TEST_F(StateDict, dropoutInForwardDraws) {
  auto draws = [&](const std::string &text, const char *name) {
    graph::Program program = trace(text, name);
    for (const graph::Node &node : program.main)
      if (node.calls("aten.dropout.default"))
        return true;
    return false;
  };
  inputs.clear();
  input("x", {4});
  EXPECT_TRUE(draws("def f(x):\n    return F.dropout(x, 0.5)\n", "f"));
  EXPECT_TRUE(draws("class Net(nn.Module):\n"
                    "    def __init__(self):\n        super().__init__()\n"
                    "        self.drop = nn.Dropout(0.5)\n"
                    "    def forward(self, x):\n        self.drop.train()\n"
                    "        return self.drop(x)\n",
                    "Net"));
  EXPECT_FALSE(draws("def f(x):\n    return F.dropout(x, 0.0) + F.dropout(x, 0.5, False)\n", "f"));
}

// As models of transformers begin: a row of an embedding is set in the constructor, and the head
// has its weight.
TEST_F(StateDict, tiedTensorsThatConstructorsWriteIntoAreOne) {
  const char *const tied = R"py(
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 4, padding_idx=0)
        nn.init.zeros_(self.table.weight[0])
        self.head = nn.Linear(4, 5, bias=False)
        self.head.weight = self.table.weight

    def forward(self, x):
        return self.head(x) @ self.table.weight
)py";
  for (bool both : {true, false}) {
    options.weights = {{"table.weight", weight({5, 4}, 3)}};
    if (both)
      options.weights["head.weight"] = options.weights["table.weight"];
    graph::Program program = trace(tied, "Tied");
    EXPECT_EQ(program.weights.size(), 1u);
    for (const auto &[name, bound] : program.weights)
      EXPECT_EQ(bound.data, options.weights["table.weight"].data) << name;
  }
  options.weights.clear();
  EXPECT_EQ(trace(tied, "Tied").weights.size(), 1u);
}

// As PyTorch 2.15 answers; a wrong answer is an AssertionError of the model.
TEST_F(StateDict, partsAreFoundByDottedNames) {
  trace(R"py(
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.register_buffer("kept", torch.ones(4))
        self.register_buffer("lost", torch.ones(4), persistent=False)
        self.held = nn.Buffer(torch.ones(4))

class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.tied = self.inner
        self.scale = nn.Parameter(torch.ones(4))

    def fails(self, words, method, *args):
        try:
            method(*args)
        except (AttributeError, ValueError) as error:
            assert words in str(error), str(error)
        else:
            assert False, words

    def forward(self, x):
        inner = self.inner
        parts = [path + name for path in ("inner.", "tied.") for name in ("kept", "held", "lin.weight", "lin.bias")]
        assert list(self.state_dict()) == ["scale"] + parts, list(self.state_dict())
        assert list(inner.lin.state_dict(prefix="p.")) == ["p.weight", "p.bias"]
        assert self.state_dict(keep_vars=True)["tied.lin.weight"] is inner.lin.weight
        assert self.get_submodule("inner.lin") is inner.lin and self.get_submodule("") is self
        assert self.get_parameter("inner.lin.weight") is inner.lin.weight
        assert self.get_buffer("tied.kept") is inner.kept and self.get_buffer("inner.lost") is inner.lost
        self.fails("Inner has no attribute `no`", self.get_submodule, "inner.no")
        self.fails("`scale` is not an nn.Module", self.get_submodule, "scale")
        self.fails("`kept` is not an nn.Parameter", self.get_parameter, "inner.kept")
        self.fails("Named has no attribute `no`", self.get_parameter, "no")
        self.fails("`scale` is not a buffer", self.get_buffer, "scale")
        self.fails("without a target name", self.set_submodule, "", nn.Identity())
        self.fails("is not an nn.Module, found", self.set_submodule, "inner.lin", 3)
        self.fails("`scale` is not an nn.Module", self.set_submodule, "scale", nn.Identity())
        self.fails("Inner has no attribute `new`", self.set_submodule, "inner.new", nn.Identity(), True)
        y = self.inner.lin(x)
        self.set_submodule("inner.lin", nn.Identity())
        return y + self.inner.lin(x)
)py",
        "Named");
}

} // namespace
} // namespace pellucid::trace
