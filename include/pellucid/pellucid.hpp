// SPDX-License-Identifier: Apache-2.0
/// Pellucid in C++: tensors, operators, modules, Triton kernels in their three forms, gradients,
/// optimisers (pellucid/training.hpp), tracing, compilation and packages.
///
/// The same functions run eagerly (on tensors that hold data) and record (while export_program or
/// compile traces). An eager call goes the way of every program: it is traced, compiled for the
/// types and sizes of its arguments, kept, and run; the next call like it only runs. Errors are
/// pellucid::Error with the text that the command line prints. Objects are cheap handles onto
/// shared state; one object may be read from many threads, tracing happens on the calling thread
/// only. Needs libpellucid and, for code generation, the program pellucid-worker beside it (eager
/// calls included). Packages run without either: see pellucid/runtime.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#if defined(__GNUC__)
#define PELLUCID_EXPORT __attribute__((visibility("default")))
#else
#define PELLUCID_EXPORT
#endif

struct DLManagedTensorVersioned;

namespace pellucid {

/// What went wrong, with the place in the user's source where there is one. what() is the whole
/// rendered diagnostic.
class PELLUCID_EXPORT Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

enum class dtype : uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  float8_e4m3fn,
  float8_e5m2,
};

namespace detail {
struct TensorState;
struct KernelState;
struct OperatorState;
struct ProgramState;
struct PackageState;
struct InstanceState;
struct CallState;
struct ModuleState;
struct FileState;
struct CompiledState;
struct HookState;
} // namespace detail

namespace autograd {
class AutogradContext;
} // namespace autograd

/// A size that may depend on a dynamic dimension while a function is traced. A comparison that the
/// dimension's range does not decide follows the example's size: compile makes it a guard,
/// export_program a warning, a strict export an Error.
class PELLUCID_EXPORT SymInt {
public:
  SymInt() = default;
  template <typename T,
            typename = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
  SymInt(T integer) : value(static_cast<int64_t>(integer)) {} // NOLINT: sizes mix with integers
  int64_t
  guard_int() const;        ///< the value; a symbolic one is the example's, as a comparison with it
  std::string text() const; ///< `64*batch`

  friend PELLUCID_EXPORT SymInt operator+(const SymInt &, const SymInt &);
  friend PELLUCID_EXPORT SymInt operator-(const SymInt &, const SymInt &);
  friend PELLUCID_EXPORT SymInt operator*(const SymInt &, const SymInt &);
  friend PELLUCID_EXPORT SymInt operator/(const SymInt &,
                                          const SymInt &); ///< rounds towards minus infinity
  friend PELLUCID_EXPORT SymInt operator%(const SymInt &, const SymInt &);
  friend PELLUCID_EXPORT bool operator==(const SymInt &, const SymInt &);
  friend PELLUCID_EXPORT bool operator<(const SymInt &, const SymInt &);
  friend PELLUCID_EXPORT bool operator<=(const SymInt &, const SymInt &);
  friend bool operator!=(const SymInt &a, const SymInt &b) { return !(a == b); }
  friend bool operator>(const SymInt &a, const SymInt &b) { return b < a; }
  friend bool operator>=(const SymInt &a, const SymInt &b) { return b <= a; }

  std::shared_ptr<const void> state; ///< internal; null: a plain integer
  int64_t value = 0;                 ///< internal
};
PELLUCID_EXPORT SymInt cdiv(const SymInt &a, const SymInt &b);

/// A strided tensor on the CPU. Copies share the data.
///
/// Its data lie in memory, or it is *recorded*: a tensor that requires grad, and whatever is
/// computed from one. Operators on recorded tensors are noted and computed together when a value is
/// asked for, as in a script; shapes, types and errors are there at once. A recorded tensor is read
/// (const_data_ptr, item, values) and written by operators, never through a pointer.
class PELLUCID_EXPORT Tensor {
public:
  Tensor() = default;
  bool defined() const { return state != nullptr; }
  std::vector<SymInt> sizes() const;
  SymInt size(int64_t dim) const; ///< negative dims count from the end
  SymInt numel() const;
  int64_t dim() const;
  std::vector<SymInt> strides() const; ///< in elements
  dtype scalar_type() const;
  bool is_contiguous() const;

  /// The first element. Error while tracing, and of a recorded tensor. T must be the element's own
  /// C++ type, or void.
  template <typename T> T *data() const { return static_cast<T *>(data_ptr()); }
  void *data_ptr() const;
  /// The same for reading: a recorded tensor is computed first. The elements are those of now; they
  /// lie in strides() and stay valid, and as they are, until this object is asked again or goes.
  template <typename T> const T *const_data_ptr() const {
    return static_cast<const T *>(const_data_ptr());
  }
  const void *const_data_ptr() const;
  /// The only element, converted; Error for another number of elements.
  template <typename T> T item() const {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(item_double());
    else
      return static_cast<T>(item_int64());
  }
  double item_double() const;
  int64_t item_int64() const; ///< fractions are cut off
  /// A copy in memory of its own, row-major, without a history.
  Tensor values() const;

  Tensor to(dtype type) const;
  Tensor view(const std::vector<SymInt> &shape) const;
  Tensor reshape(const std::vector<SymInt> &shape) const;
  Tensor transpose(int64_t a, int64_t b) const;
  Tensor permute(const std::vector<int64_t> &dims) const;
  Tensor contiguous() const;
  Tensor slice(int64_t dim, int64_t begin, int64_t end,
               int64_t step = 1) const; ///< `end` beyond the dim: to its end
  Tensor clone() const;                 ///< new memory; gradients go through

  // Gradients, as in PyTorch (docs/autograd.md). A recorded tensor belongs to one thread at a time.
  bool requires_grad() const;
  /// Makes a leaf record what is computed from it, or stop; gives the tensor itself. Its handles
  /// all see it. Error for integers, for results of operators, for memory that is borrowed or that
  /// other tensors share (clone() it first), and inside of a trace.
  const Tensor &requires_grad_(bool requires_grad = true) const;
  const Tensor &set_requires_grad(bool requires_grad) const {
    return requires_grad_(requires_grad);
  }
  bool is_leaf() const;
  /// The gradient that backward() added up, in this tensor's shape and type; undefined: none.
  Tensor grad() const;
  /// An undefined tensor takes it away.
  void set_grad(const Tensor &gradient) const;
  /// Adds the derivatives of this tensor (of one element, unless `gradient` of its shape is given)
  /// to the grad() of every leaf that it was computed from. Without `retain_graph` (by default:
  /// `create_graph`) what was kept for it is freed; with `create_graph` the gradients can be
  /// differentiated again.
  void backward(const Tensor &gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false) const;
  /// The same memory without a history.
  Tensor detach() const;
  void retain_grad() const; ///< grad() of what is no leaf is kept as well
  /// `hook` is called with this tensor's gradient whenever it is computed, and may give another in
  /// its place (undefined: it stays). The number takes it away again.
  uint64_t register_hook(std::function<Tensor(Tensor)> hook) const;
  void remove_hook(uint64_t number) const;

  std::shared_ptr<detail::TensorState> state;
};

/// Uninitialised; zeros; ones; every element `value`; the caller's memory (which must outlive the
/// tensor), row-major.
PELLUCID_EXPORT Tensor empty(const std::vector<SymInt> &shape, dtype type = dtype::float32);
PELLUCID_EXPORT Tensor zeros(const std::vector<SymInt> &shape, dtype type = dtype::float32);
PELLUCID_EXPORT Tensor ones(const std::vector<SymInt> &shape, dtype type = dtype::float32);
PELLUCID_EXPORT Tensor full(const std::vector<SymInt> &shape, double value,
                            dtype type = dtype::float32);
PELLUCID_EXPORT Tensor empty_like(const Tensor &x);
PELLUCID_EXPORT Tensor from_blob(void *data, const std::vector<int64_t> &shape, dtype type);
/// Another library's tensor, without a copy: the Tensor owns `managed` and calls its deleter in the
/// end. Error for what no Tensor can be (a device, a foreign dtype, read-only memory); `managed`
/// then stays the caller's. to_dlpack shares a tensor's memory the other way; the taker calls the
/// deleter, from any thread. pellucid/dlpack.h declares the struct.
PELLUCID_EXPORT Tensor from_dlpack(DLManagedTensorVersioned *managed);
PELLUCID_EXPORT DLManagedTensorVersioned *to_dlpack(const Tensor &tensor);
/// Uniform in [low, high); the same seed gives the same numbers on every machine.
PELLUCID_EXPORT Tensor rand(const std::vector<int64_t> &shape, dtype type, double low, double high,
                            uint64_t seed);

/// Any argument of an operator or a kernel.
using Argument = std::variant<std::monostate, bool, int64_t, double, std::string, dtype, SymInt,
                              Tensor, std::vector<SymInt>, std::vector<Tensor>>;

/// Calls an operator by its name, built in or registered: call("aten::softmax.int", {x, -1}). A
/// built-in one without an overload picks it by the arguments; a trailing underscore (aten::add_)
/// writes the result into the first argument.
PELLUCID_EXPORT std::vector<Tensor>
call(const std::string &name, std::vector<Argument> arguments,
     std::vector<std::pair<std::string, Argument>> keywords = {});

// ATen's operators under their usual names; broadcasting and type promotion as in PyTorch.
PELLUCID_EXPORT Tensor operator+(const Tensor &a, const Tensor &b);
PELLUCID_EXPORT Tensor operator-(const Tensor &a, const Tensor &b);
PELLUCID_EXPORT Tensor operator*(const Tensor &a, const Tensor &b);
PELLUCID_EXPORT Tensor operator/(const Tensor &a, const Tensor &b);
PELLUCID_EXPORT Tensor operator+(const Tensor &a, double b);
PELLUCID_EXPORT Tensor operator-(const Tensor &a, double b);
PELLUCID_EXPORT Tensor operator*(const Tensor &a, double b);
PELLUCID_EXPORT Tensor operator/(const Tensor &a, double b);
PELLUCID_EXPORT Tensor linear(const Tensor &x, const Tensor &weight, const Tensor &bias = {});
PELLUCID_EXPORT Tensor matmul(const Tensor &a, const Tensor &b);
PELLUCID_EXPORT Tensor silu(const Tensor &x);
PELLUCID_EXPORT Tensor gelu(const Tensor &x, const std::string &approximate = "none");
PELLUCID_EXPORT Tensor relu(const Tensor &x);
PELLUCID_EXPORT Tensor sigmoid(const Tensor &x);
PELLUCID_EXPORT Tensor tanh(const Tensor &x);
PELLUCID_EXPORT Tensor exp(const Tensor &x);
PELLUCID_EXPORT Tensor sqrt(const Tensor &x);
PELLUCID_EXPORT Tensor rsqrt(const Tensor &x);
PELLUCID_EXPORT Tensor softmax(const Tensor &x, int64_t dim);
PELLUCID_EXPORT Tensor sum(const Tensor &x, const std::vector<int64_t> &dims, bool keepdim = false);
PELLUCID_EXPORT Tensor mean(const Tensor &x, const std::vector<int64_t> &dims,
                            bool keepdim = false);
PELLUCID_EXPORT Tensor amax(const Tensor &x, const std::vector<int64_t> &dims,
                            bool keepdim = false);
PELLUCID_EXPORT Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b);
PELLUCID_EXPORT Tensor cat(const std::vector<Tensor> &parts, int64_t dim);
PELLUCID_EXPORT std::vector<Tensor> chunk(const Tensor &x, int64_t count, int64_t dim);
PELLUCID_EXPORT Tensor layer_norm(const Tensor &x, const Tensor &weight, const Tensor &bias,
                                  double eps = 1e-5);
PELLUCID_EXPORT Tensor rms_norm(const Tensor &x, const Tensor &weight, double eps);
PELLUCID_EXPORT Tensor embedding(const Tensor &table, const Tensor &indices);

namespace triton {

/// The integer arguments of one launch, constexprs among them, as a grid function sees them.
class PELLUCID_EXPORT Meta {
public:
  SymInt operator[](const std::string &name) const; ///< Error when the launch has no such integer
  std::map<std::string, SymInt> values;
};

/// One to three sizes, or a function of the launch's arguments: auto grid = [&](const Meta &meta) {
/// return std::vector<SymInt>{cdiv(n, meta["BLOCK_SIZE"])}; }; kernel[grid](…)
class PELLUCID_EXPORT Grid {
public:
  Grid(std::initializer_list<SymInt> sizes) : fixed(sizes) {}
  Grid(std::vector<SymInt> sizes) : fixed(std::move(sizes)) {}
  template <typename F, typename = std::enable_if_t<std::is_invocable_v<F, const Meta &>>>
  Grid(F function) : computed(std::move(function)) {}

  std::vector<SymInt> fixed;
  std::function<std::vector<SymInt>(const Meta &)> computed;
};

/// Constexprs and launch options by name: {{"BLOCK_SIZE", 1024}, {"num_warps", 4}}.
using Keywords = std::vector<std::pair<std::string, Argument>>;

/// A kernel with a grid, ready to be called.
class PELLUCID_EXPORT Launcher {
public:
  /// Arguments by position, then by name, bound as Triton binds them.
  void operator()(std::vector<Argument> arguments, Keywords keywords = {}) const;

  std::shared_ptr<detail::KernelState> kernel;
  Grid grid{1};
};

/// A @triton.jit function (autotuned or with heuristics, if it is). kernel[grid]({x, y, n},
/// {{"BLOCK", …}}) launches it: eagerly at once, or as a node of the graph being traced. Of
/// autotune configs the first that pruning leaves is taken.
class PELLUCID_EXPORT Kernel {
public:
  std::string name() const;
  Launcher operator[](Grid grid) const { return {state, std::move(grid)}; }

  std::shared_ptr<detail::KernelState> state;
};

/// A Python file with kernels. Its host code is run by our own evaluator.
class PELLUCID_EXPORT File {
public:
  Kernel operator[](const std::string &name) const; ///< Error when there is no such kernel
  std::vector<std::string> kernels() const;

  std::shared_ptr<detail::FileState> state;
};

/// Reads and checks a file; `roots` are further folders that its absolute imports are looked up in.
PELLUCID_EXPORT File load(const std::string &path, const std::vector<std::string> &roots = {});

} // namespace triton

/// Marks a kernel for tracing, as torch.library.wrap_triton does; launches are visible with or
/// without it.
inline triton::Kernel wrap_triton(const triton::Kernel &kernel) { return kernel; }

/// What an operator's implementation takes and gives.
using OperatorFunction = std::function<std::vector<Tensor>(const std::vector<Argument> &)>;

/// A registered operator. An eager call runs its function; while tracing, a call records one node
/// with the traced function behind it. A function sees tensors through its arguments only.
class PELLUCID_EXPORT Operator {
public:
  /// op({x, 2.0}): all results. Arguments in the schema's order, defaults filled in.
  std::vector<Tensor> operator()(std::vector<Argument> arguments) const;
  /// op(x, 2.0): the result; undefined when there is none, Error when there are several.
  template <typename... Ts,
            typename = std::enable_if_t<(sizeof...(Ts) > 0) &&
                                        (std::is_convertible_v<Ts, Argument> && ...)>>
  Tensor operator()(Ts &&...arguments) const {
    return onlyResult((*this)(std::vector<Argument>{Argument(std::forward<Ts>(arguments))...}));
  }
  /// Result shapes and types without running it. Traced results are held against it.
  Operator &register_fake(OperatorFunction function);
  /// Another implementation for one kind of device; "cpu" is the one that runs and is traced here.
  Operator &register_kernel(const std::string &device, OperatorFunction function);
  /// From the gradients of the results (zeros where none arrived) those of the arguments, one for
  /// each, undefined for what has none. `setup_context` is called after the forward and says what
  /// to keep. Without it an operator on tensors that require grad has no derivative: asking for one
  /// is an Error with its name.
  Operator &register_autograd(
      std::function<std::vector<Tensor>(autograd::AutogradContext *, std::vector<Tensor>)> backward,
      std::function<void(autograd::AutogradContext *, const std::vector<Argument> &arguments,
                         const std::vector<Tensor> &results)>
          setup_context = {});

  std::shared_ptr<detail::OperatorState> state;

private:
  Tensor onlyResult(std::vector<Tensor> results) const;
};

/// torch.library.triton_op: transparent; one node in an export, opened by compile and
/// run_decompositions. `schema` is torch's: "(Tensor x, float eps=1e-5) -> Tensor"; a written
/// argument is `Tensor(a!) out`.
PELLUCID_EXPORT Operator triton_op(const std::string &name, const std::string &schema,
                                   OperatorFunction function);
/// torch.library.custom_op: opaque; one node everywhere, compiled as a unit of its own.
PELLUCID_EXPORT Operator custom_op(const std::string &name, const std::string &schema,
                                   OperatorFunction function);

namespace nn {

/// Parameters, buffers and submodules by name; derive from it and write forward.
class PELLUCID_EXPORT Module {
public:
  Module();
  virtual ~Module();
  virtual std::vector<Tensor> forward(const std::vector<Tensor> &inputs) = 0;
  /// forward for one result; Error when it gives another number.
  Tensor operator()(const Tensor &x);

  Tensor register_parameter(const std::string &name, Tensor value);
  Tensor register_buffer(const std::string &name, Tensor value);
  template <typename M>
  std::shared_ptr<M> register_module(const std::string &name, std::shared_ptr<M> module) {
    add_child(name, module);
    return module;
  }
  /// Every parameter, own ones first; every one with its dotted name.
  std::vector<Tensor> parameters() const;
  std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  std::vector<std::pair<std::string, Tensor>> named_buffers() const;
  /// Copies values in from a .safetensors or .npz file; Error on another shape or element type and,
  /// unless `strict` is false, on names that the file lacks or the module does not have, all of
  /// them listed. Nothing is copied when there is one.
  void load_state_dict(const std::string &path, bool strict = true);
  /// Tensor::requires_grad_ of every parameter of a floating type.
  void requires_grad_(bool requires_grad = true);
  void zero_grad(); ///< takes every parameter's gradient away

  std::shared_ptr<detail::ModuleState> state;

private:
  void add_child(const std::string &name, std::shared_ptr<Module> module);
};

class PELLUCID_EXPORT Linear : public Module {
public:
  /// Weight [out, in] and bias [out], uniform in ±1/sqrt(in) from `seed`.
  Linear(int64_t in, int64_t out, bool has_bias = true, dtype type = dtype::float32,
         uint64_t seed = 0);
  std::vector<Tensor> forward(const std::vector<Tensor> &inputs) override;
  Tensor weight, bias;
};

} // namespace nn

/// A dynamic dimension: its name and inclusive range.
struct Dim {
  std::string name;
  int64_t min = 0, max = INT64_MAX;
};
/// Which dimensions of which input are dynamic: {{0, {{0, batch}}}}.
using DynamicShapes = std::map<size_t, std::map<size_t, Dim>>;

/// A traced program.
class PELLUCID_EXPORT ExportedProgram {
public:
  std::string graph_table() const; ///< PyTorch's node table
  std::string text() const;        ///< our versioned text
  std::vector<std::string>
  warnings() const; ///< what tracing had to say: branches that followed the example, …
  /// Opens transparent operators into launches.
  ExportedProgram run_decompositions() const;
  void save(const std::string &path) const; ///< text and weights; load_program reads it back

  std::shared_ptr<detail::ProgramState> state;
};
PELLUCID_EXPORT ExportedProgram load_program(const std::string &path);

/// Tensors in, tensors out. Tensors that it captures become weights: their values are those of the
/// moment of compiling.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;
/// Traces `function` on inputs of the examples' types, sizes and strides, dynamic dims apart.
/// `names` are the inputs'; without them they are arg0, arg1, ….
PELLUCID_EXPORT ExportedProgram export_program(const Function &function,
                                               const std::vector<Tensor> &examples,
                                               const DynamicShapes &dynamic = {},
                                               bool strict = false,
                                               const std::vector<std::string> &names = {});
/// The same for a module's forward; its parameters and buffers are the program's weights, under
/// their dotted names.
PELLUCID_EXPORT ExportedProgram export_program(nn::Module &module,
                                               const std::vector<Tensor> &examples,
                                               const DynamicShapes &dynamic = {},
                                               bool strict = false,
                                               const std::vector<std::string> &names = {});

struct CompileOptions {
  std::string target = "cpu";    ///< as --target: "cpu", "cpu:x86-64-v3", "cuda:sm_90", comma lists
  bool fuse_into_kernels = true; ///< move pointwise operators into user kernels
  /// Buffers that the module changes are inputs that a call writes to, instead of an instance's
  /// state.
  bool state_as_inputs = false;
  std::string worker; ///< the pellucid-worker to use; empty: the one beside this library or program
  std::vector<std::string> input_names =
      {}; ///< compile: what errors call the inputs; without them arg0, arg1, …
  /// On a device convolutions, or products of matrices, of f32 multiply tf32, which has 10 digits.
  bool tf32_convolutions = false, tf32_products = false;
};

/// A call of given tensors that was checked, placed and packed once: for loops that make the same
/// call again, such as a decoder's steps. Each run reads what the inputs hold then and writes the
/// outputs; it keeps the tensors and the package alive. One run at a time: an Error refuses another
/// meanwhile, so prepare one per thread.
class PELLUCID_EXPORT PreparedCall {
public:
  void run() const;

  std::shared_ptr<detail::CallState> held;
};

/// The state of one user of a package: what its calls change, on the CPU. Copies of the object are
/// the same instance. One call, load, save or reset at a time: an Error refuses another meanwhile.
/// A call that fails before its first write to the state leaves it as it was; after a later failure
/// calls and saves are refused until a load or reset.
class PELLUCID_EXPORT Instance {
public:
  std::vector<Tensor> run(const std::vector<Tensor> &inputs) const;
  /// With random numbers that start from `seed`; each `offset` has numbers of its own.
  std::vector<Tensor> run(const std::vector<Tensor> &inputs, uint64_t seed,
                          uint64_t offset = 0) const;
  /// As Package::prepare; runs of the call are calls of this instance.
  PreparedCall prepare(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs) const;
  void reset() const;                       ///< to what the package gives
  void load(const std::string &path) const; ///< .safetensors; all of it or nothing
  void save(const std::string &path) const;
  std::vector<std::string> state_names() const;
  /// A view of the instance's own memory, which it keeps alive: writes to it are the next call's.
  Tensor state(const std::string &name) const;

  std::shared_ptr<detail::InstanceState> held;
};

struct InstanceOptions {
  /// A call that fails leaves the state as it was. Takes the state's memory once more, and a copy
  /// of it in each call.
  bool restore_on_failure = false;
};

/// A loaded package. run() is safe from many threads at once.
class PELLUCID_EXPORT Package {
public:
  /// Mutated inputs are written in place. A package with state is run through an instance.
  std::vector<Tensor> run(const std::vector<Tensor> &inputs) const;
  /// With random numbers that start from `seed`; each `offset` has numbers of its own.
  std::vector<Tensor> run(const std::vector<Tensor> &inputs, uint64_t seed,
                          uint64_t offset = 0) const;
  /// `outputs` are contiguous, of the types and shapes that run() would return, and overlap neither
  /// each other nor the inputs; where the output is a mutated input, that input. Nothing runs yet.
  /// Error for a package that draws random numbers or has state (use an instance's).
  PreparedCall prepare(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs) const;
  std::string describe() const; ///< JSON
  /// Shares code and weights with all others of the package, and keeps it loaded.
  Instance instance(const InstanceOptions &options = {}) const;

  std::shared_ptr<detail::PackageState> state;
};
PELLUCID_EXPORT void compile_package(const ExportedProgram &program, const std::string &path,
                                     const CompileOptions &options = {});
PELLUCID_EXPORT Package load_package(const std::string &path);

/// A function compiled for the types of its examples. A call that its guards (dtype, rank, range,
/// strides, and branches that followed the example's size) do not admit is an Error naming input,
/// value and rule. Safe from many threads.
class PELLUCID_EXPORT Compiled {
public:
  std::vector<Tensor> operator()(const std::vector<Tensor> &inputs) const;

  std::shared_ptr<detail::CompiledState> state;
};
PELLUCID_EXPORT Compiled compile(const Function &function, const std::vector<Tensor> &examples,
                                 const DynamicShapes &dynamic = {},
                                 const CompileOptions &options = {});

} // namespace pellucid

#include <pellucid/training.hpp>
