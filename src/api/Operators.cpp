// SPDX-License-Identifier: Apache-2.0
// ATen's operators under their usual names.
#include "api/State.h"

namespace pellucid {

using namespace api;

namespace {

Tensor one(const char *name, std::vector<Argument> arguments, triton::Keywords keywords = {}) {
  return guarded([&] { return callBuiltin(name, arguments, keywords).at(0); });
}

std::vector<SymInt> asSizes(const std::vector<int64_t> &values) {
  return {values.begin(), values.end()};
}

} // namespace

std::vector<Tensor> call(const std::string &name, std::vector<Argument> arguments,
                         std::vector<std::pair<std::string, Argument>> keywords) {
  return guarded([&]() -> std::vector<Tensor> {
    std::shared_ptr<detail::OperatorState> op = findOperator(name);
    if (!op)
      return callBuiltin(name, arguments, keywords);
    if (!keywords.empty())
      throw Error("operator '" + name +
                  "' takes its arguments by position here, in the schema's order");
    return Operator{op}(std::move(arguments));
  });
}

Tensor Tensor::to(dtype type) const {
  return type == scalar_type() ? *this : one("aten::to", {*this, type});
}
Tensor Tensor::view(const std::vector<SymInt> &shape) const {
  return one("aten::view", {*this, shape});
}
Tensor Tensor::reshape(const std::vector<SymInt> &shape) const {
  return one("aten::reshape", {*this, shape});
}
Tensor Tensor::transpose(int64_t a, int64_t b) const {
  return one("aten::transpose", {*this, a, b});
}
Tensor Tensor::permute(const std::vector<int64_t> &dims) const {
  return one("aten::permute", {*this, asSizes(dims)});
}
Tensor Tensor::contiguous() const {
  return is_contiguous() ? *this : one("aten::contiguous", {*this});
}
Tensor Tensor::slice(int64_t dim, int64_t begin, int64_t end, int64_t step) const {
  return one("aten::slice", {*this, dim, begin, end, step});
}

Tensor operator+(const Tensor &a, const Tensor &b) { return one("aten::add", {a, b}); }
Tensor operator-(const Tensor &a, const Tensor &b) { return one("aten::sub", {a, b}); }
Tensor operator*(const Tensor &a, const Tensor &b) { return one("aten::mul", {a, b}); }
Tensor operator/(const Tensor &a, const Tensor &b) { return one("aten::div", {a, b}); }
Tensor operator+(const Tensor &a, double b) { return one("aten::add", {a, b}); }
Tensor operator-(const Tensor &a, double b) { return one("aten::sub", {a, b}); }
Tensor operator*(const Tensor &a, double b) { return one("aten::mul", {a, b}); }
Tensor operator/(const Tensor &a, double b) { return one("aten::div", {a, b}); }
Tensor linear(const Tensor &x, const Tensor &weight, const Tensor &bias) {
  return one("aten::linear", {x, weight, bias});
}
Tensor matmul(const Tensor &a, const Tensor &b) { return one("aten::matmul", {a, b}); }
Tensor silu(const Tensor &x) { return one("aten::silu", {x}); }
Tensor gelu(const Tensor &x, const std::string &approximate) {
  return one("aten::gelu", {x}, {{"approximate", approximate}});
}
Tensor relu(const Tensor &x) { return one("aten::relu", {x}); }
Tensor sigmoid(const Tensor &x) { return one("aten::sigmoid", {x}); }
Tensor tanh(const Tensor &x) { return one("aten::tanh", {x}); }
Tensor exp(const Tensor &x) { return one("aten::exp", {x}); }
Tensor sqrt(const Tensor &x) { return one("aten::sqrt", {x}); }
Tensor rsqrt(const Tensor &x) { return one("aten::rsqrt", {x}); }
Tensor softmax(const Tensor &x, int64_t dim) { return one("aten::softmax", {x, dim}); }
Tensor sum(const Tensor &x, const std::vector<int64_t> &dims, bool keepdim) {
  return one("aten::sum", {x, asSizes(dims), keepdim});
}
Tensor mean(const Tensor &x, const std::vector<int64_t> &dims, bool keepdim) {
  return one("aten::mean", {x, asSizes(dims), keepdim});
}
Tensor amax(const Tensor &x, const std::vector<int64_t> &dims, bool keepdim) {
  return one("aten::amax", {x, asSizes(dims), keepdim});
}
Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b) {
  return one("aten::where", {condition, a, b});
}
Tensor cat(const std::vector<Tensor> &parts, int64_t dim) { return one("aten::cat", {parts, dim}); }
std::vector<Tensor> chunk(const Tensor &x, int64_t count, int64_t dim) {
  return guarded([&] { return callBuiltin("aten::chunk", {x, count, dim}, {}); });
}
Tensor layer_norm(const Tensor &x, const Tensor &weight, const Tensor &bias, double eps) {
  return one("aten::layer_norm", {x, weight.sizes(), weight, bias, eps});
}
Tensor rms_norm(const Tensor &x, const Tensor &weight, double eps) {
  return one("aten::rms_norm", {x, weight.sizes(), weight, eps});
}
Tensor embedding(const Tensor &table, const Tensor &indices) {
  return one("aten::embedding", {table, indices});
}

} // namespace pellucid
