// SPDX-License-Identifier: Apache-2.0
#include "api/Session.h"

#include "trace/Gradients.h"

#include <algorithm>
#include <cstring>

namespace pellucid::api {

namespace h = pellucid::host;
using trace::ConcreteTensor;
using trace::TensorObject;

namespace {

thread_local bool threadGradEnabled = true;

constexpr const char *glueSource = R"(
import torch


class _Call(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, back, *inputs):
        ctx._back = back
        return run(ctx, *inputs)

    @staticmethod
    def backward(ctx, *gradients):
        return (None, None) + tuple(ctx._back(ctx, *gradients))


def function(name):
    return type(name, (_Call,), {})
)";

bool isRecorded(const Tensor &tensor) {
  return tensor.state && tensor.state->recording && !isTraced(*tensor.state);
}

bool isRecorded(const Argument &argument) {
  if (auto *tensor = std::get_if<Tensor>(&argument))
    return isRecorded(*tensor);
  if (auto *list = std::get_if<std::vector<Tensor>>(&argument))
    return std::any_of(list->begin(), list->end(),
                       [](const Tensor &tensor) { return isRecorded(tensor); });
  return false;
}

/// How many elements lie between the first and the last place of a tensor, both included; nullopt
/// where some lie before the first.
std::optional<int64_t> extentOf(const TensorState &s) {
  int64_t extent = 1;
  for (size_t d = 0; d < s.shape.size(); ++d) {
    if (s.strides[d] < 0)
      return std::nullopt;
    if (s.shape[d] == 0)
      return 0;
    extent += (s.shape[d] - 1) * s.strides[d];
  }
  return extent;
}

int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// A copy that nothing else writes to. It lies as the tensor does, unless that has wide gaps.
ConcreteTensor copyOf(const TensorState &s) {
  ConcreteTensor copy{s.type, s.shape, s.strides, {}};
  std::optional<int64_t> extent = extentOf(s);
  if (!extent || *extent > 2 * countOf(s.shape) + 64) {
    uint64_t bytes = 0;
    std::shared_ptr<const std::byte> dense = denseBytes(s, bytes);
    std::shared_ptr<std::byte[]> memory(new std::byte[bytes ? bytes : 1]);
    std::memcpy(memory.get(), dense.get(), bytes);
    copy.strides = rowMajor(s.shape);
    copy.data = {memory, memory.get()};
    return copy;
  }
  size_t bytes = static_cast<size_t>(*extent) * byteSize(s.type);
  std::shared_ptr<std::byte[]> memory(new std::byte[bytes ? bytes : 1]);
  std::memcpy(memory.get(), s.data, bytes);
  copy.data = {memory, memory.get()};
  return copy;
}

/// Element by element, wherever they lie.
void copyElements(const TensorState &to, const ConcreteTensor &from) {
  int64_t count = countOf(to.shape);
  auto element = static_cast<int64_t>(byteSize(to.type));
  std::vector<int64_t> index(to.shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0, source = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      at += index[d] * to.strides[d];
      source += index[d] * from.strides[d];
    }
    std::memcpy(to.data + at * element, from.data.get() + source * element,
                static_cast<size_t>(element));
    for (size_t d = index.size(); d-- > 0 && ++index[d] == to.shape[d];)
      index[d] = 0;
  }
}

bool overlap(const TensorState &a, const TensorState &b) {
  auto bytes = [](const TensorState &s) {
    return s.data + extentOf(s).value_or(countOf(s.shape)) * static_cast<int64_t>(byteSize(s.type));
  };
  return a.data < bytes(b) && b.data < bytes(a);
}

} // namespace

SessionParts::SessionParts() {
  h::InterpreterOptions options;
  options.hooks = &session.hooks();
  options.maxDepth = 1000;
  options.maxSteps = UINT64_MAX / 2;
  options.maxBytes = UINT64_MAX / 2;
  options.script.emplace();
  session.addModules(options.modules);
  evaluator = std::make_unique<h::Interpreter>(std::move(options));
  session.begin(*evaluator);
}

const std::shared_ptr<Session> &Session::get() {
  std::lock_guard lock(traceLock());
  static const auto *session = new std::shared_ptr<Session>(std::make_shared<Session>());
  return *session;
}

bool Session::takes(const std::vector<Argument> &arguments, const triton::Keywords &keywords) {
  if (Recording *active = Recording::active())
    return active->isSession();
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument &argument) { return isRecorded(argument); }) ||
         std::any_of(keywords.begin(), keywords.end(),
                     [](const auto &keyword) { return isRecorded(keyword.second); });
}

bool Session::gradEnabled() {
  Recording *active = Recording::active();
  return active && active->isSession() ? active->tracer.gradients.enabled : threadGradEnabled;
}

void Session::setGradEnabled(bool enabled) {
  Recording *active = Recording::active();
  if (active && active->isSession())
    active->tracer.gradients.enabled = enabled;
  else
    threadGradEnabled = enabled;
}

Session::Entered::Entered(Session &session)
    : inside(Recording::active() == &session), scope(session), active(session.interpreter()),
      mode(session.tracer.gradients), saved(mode) {
  if (!inside)
    mode.enabled = threadGradEnabled;
}

Session::Entered::~Entered() {
  if (!inside)
    mode = saved;
}

std::vector<Tensor> Session::call(const std::function<std::vector<Tensor>(Recording &)> &record) {
  Entered entered(*this);
  std::map<std::string, Borrowed> outer;
  std::swap(outer, borrowed);
  struct Restore {
    std::map<std::string, Borrowed> &mine, &outer;
    ~Restore() { std::swap(mine, outer); }
  } restore{borrowed, outer};
  std::vector<Tensor> results = record(*this);
  writeBack();
  return asMemory(std::move(results));
}

h::Value Session::captured(const Tensor &given) {
  Tensor memory = inMemory(given, "an argument");
  const TensorState &s = *memory.state;
  std::string key = memoryKey(s);
  auto known = borrowed.find(key);
  if (known == borrowed.end()) {
    auto object = std::make_shared<TensorObject>(tracer, eager().recorder().tensorOf(copyOf(s)));
    uint64_t version = object->tensor.storage->version;
    known = borrowed.emplace(key, Borrowed{memory, std::move(object), version}).first;
  }
  return h::Value(known->second.object);
}

void Session::writeBack() {
  for (auto &[key, one] : borrowed) {
    if (one.object->tensor.storage->version == one.version)
      continue;
    if (!eager().recorder().isRecording())
      throw Error("a tensor in memory is written to by a training step that is traced; make it a "
                  "buffer of the module");
    if (trace::requiresGrad(*one.object))
      throw Error("an operator writes what requires grad to a tensor in memory, which has no "
                  "history; write to a copy that is computed from recorded tensors, or detach() "
                  "what is written");
    for (const auto &[otherKey, other] : borrowed)
      if (key != otherKey && overlap(*one.memory.state, *other.memory.state))
        throw Error("an operator on recorded tensors writes to memory that another of its "
                    "arguments shares; give it clone()s");
    copyElements(*one.memory.state,
                 eager().recorder().valuesOf(one.object->tensor, evaluator->location()));
    one.version = one.object->tensor.storage->version;
  }
}

/// Results that are views of a tensor in memory are that memory.
std::vector<Tensor> Session::asMemory(std::vector<Tensor> results) const {
  for (Tensor &result : results) {
    if (!result.state || !result.state->object)
      continue;
    const trace::TracedTensor &traced = result.state->object->tensor;
    for (const auto &[key, one] : borrowed) {
      if (one.object->tensor.storage != traced.storage ||
          trace::requiresGrad(*result.state->object))
        continue;
      for (size_t d = 0; d < one.memory.state->strides.size(); ++d)
        if (one.object->tensor.type.strides[d].constant() != one.memory.state->strides[d])
          throw Error("the result is a view of a tensor in memory with wide gaps between its "
                      "elements; give its contiguous()");
      TensorState view = *one.memory.state;
      view.shape.clear();
      view.strides.clear();
      for (size_t d = 0; d < traced.type.rank(); ++d) {
        view.shape.push_back(traced.type.shape[d].constant().value());
        view.strides.push_back(traced.type.strides[d].constant().value());
      }
      view.data +=
          traced.type.offset.constant().value() * static_cast<int64_t>(byteSize(view.type));
      result = wrapState(std::move(view));
      break;
    }
  }
  return results;
}

Tensor Session::computed(const Tensor &tensor) {
  Entered entered(*this);
  if (!eager().recorder().isRecording())
    throw Error("a recorded tensor has no data while a training step is traced");
  ConcreteTensor values =
      eager().recorder().valuesOf(objectOf(tensor).tensor, evaluator->location());
  TensorState state;
  state.owner = std::const_pointer_cast<std::byte>(values.data);
  state.data = const_cast<std::byte *>(values.data.get());
  state.type = values.dtype;
  state.shape = values.shape;
  state.strides = values.strides;
  return wrapState(std::move(state));
}

void Session::take(const Tensor &tensor) {
  TensorState &s = *tensor.state;
  if (s.isBorrowed)
    throw Error("requires_grad_: the memory is borrowed (from_blob, from_dlpack), and a recorded "
                "tensor is written by operators alone; clone() it first");
  if (s.sharers.use_count() > 1)
    throw Error("requires_grad_: other tensors share the memory, and would not see what is written "
                "to it; clone() it first");
  Entered entered(*this);
  // Others (programs, prepared calls) may hold the memory: it is theirs then.
  ConcreteTensor values{s.type, s.shape, s.strides, {s.owner, s.data}};
  if (s.owner.use_count() > 2 || extentOf(s).value_or(0) != countOf(s.shape))
    values = copyOf(s);
  s.object = std::make_shared<TensorObject>(tracer, eager().recorder().tensorOf(values));
  s.recording = shared_from_this();
  s.owner.reset();
  s.data = nullptr;
}

void assign(const Tensor &to, const Tensor &from) {
  Tensor source = inMemory(from, "a value");
  if (!isRecorded(to)) {
    copyElements(*to.state, {source.state->type,
                             source.state->shape,
                             source.state->strides,
                             {source.state->owner, source.state->data}});
    return;
  }
  Session::get()->call([&](Recording &session) {
    autograd::ModeGuard guard(session.tracer.gradients, false);
    recordBuiltin(session, "aten.copy_", {to, source}, {});
    return std::vector<Tensor>();
  });
}

h::Value Session::torch(const char *dottedName) {
  h::Value at = evaluator->importModule("torch");
  std::string_view rest = dottedName;
  while (!rest.empty()) {
    size_t dot = rest.find('.');
    at = evaluator->getAttr(at, rest.substr(0, dot));
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  return at;
}

h::Value Session::callMethod(const h::Value &object, const char *name,
                             std::vector<h::Value> positional,
                             std::vector<std::pair<std::string, h::Value>> keywords) {
  h::CallArgs args;
  for (h::Value &value : positional)
    args.positional.push_back(std::move(value));
  args.keywords = std::move(keywords);
  return evaluator->call(name ? evaluator->getAttr(object, name) : object, std::move(args));
}

h::Value Session::listOf(const std::vector<Tensor> &tensors) { return toHost(Argument(tensors)); }

Tensor Session::tensorFrom(const h::Value &value) {
  std::vector<Tensor> tensors = fromHost(value);
  return tensors.empty() ? Tensor() : std::move(tensors.front());
}

std::vector<Tensor> Session::tensorsFrom(const h::Value &sequence) {
  std::vector<Tensor> out;
  for (const h::Value &element : sequence.elements())
    out.push_back(tensorFrom(element));
  return out;
}

h::Value Session::glue(const char *name) {
  auto module = evaluator->importSource(
      "pellucid_functions",
      std::make_shared<SourceFile>("<torch functions>", std::string(glueSource)));
  return *module->globals->find(name);
}

} // namespace pellucid::api
