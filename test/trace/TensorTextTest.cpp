// SPDX-License-Identifier: Apache-2.0
// Tensors as PyTorch prints them: tensor_text.txt was recorded from torch 2.15
// (record_tensor_text.py).
#include "trace/EagerRecorder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

namespace pellucid::trace {

namespace {

std::vector<std::string> fields(const std::string &text, char separator) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string field; std::getline(stream, field, separator);)
    out.push_back(field);
  return out;
}

ConcreteTensor tensorOf(const std::string &dtype, const std::string &shape,
                        const std::string &bits) {
  ConcreteTensor tensor;
  tensor.dtype = *dataTypeNamed(dtype);
  if (shape != "-")
    for (const std::string &size : fields(shape, 'x'))
      tensor.shape.push_back(std::stoll(size));
  tensor.strides.resize(tensor.shape.size());
  int64_t stride = 1;
  for (size_t d = tensor.shape.size(); d-- > 0; stride *= tensor.shape[d])
    tensor.strides[d] = stride;
  std::vector<std::string> elements = bits == "-" ? std::vector<std::string>() : fields(bits, ',');
  size_t size = byteSize(tensor.dtype);
  std::shared_ptr<std::byte[]> data(new std::byte[elements.size() * size + 1]);
  for (size_t i = 0; i < elements.size(); ++i) {
    uint64_t value = std::stoull(elements[i], nullptr, 16);
    std::memcpy(data.get() + i * size, &value, size);
  }
  tensor.data = {data, data.get()};
  return tensor;
}

std::string withoutNewlines(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '\n' ? "\\n" : std::string(1, c);
  return out;
}

TEST(TensorText, IsPyTorchs) {
  std::ifstream file(std::string(PELLUCID_SOURCE_DIR) + "/test/trace/tensor_text.txt");
  ASSERT_TRUE(file);
  size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    std::vector<std::string> f = fields(line, '\t');
    ASSERT_EQ(f.size(), 9u) << line;
    PrintOptions options{
        std::stoll(f[2]), std::stoll(f[3]), std::stoll(f[4]), std::stoll(f[5]), {}};
    if (f[6] != "-")
      options.scientific = f[6] == "1";
    EXPECT_EQ(withoutNewlines(tensorText(tensorOf(f[0], f[1], f[7]), options, {}, {})), f[8])
        << "line " << count + 1;
  }
  EXPECT_EQ(count, 300u);
}

TEST(TensorText, WordsBehindAreBrokenAsPyTorchDoes) {
  ConcreteTensor one = tensorOf("float32", "2", "3f800000,40000000");
  PrintOptions options;
  EXPECT_EQ(tensorText(one, options, {"device='cuda:0'"}, {"requires_grad=True"}),
            "tensor([1., 2.], device='cuda:0', requires_grad=True)");
  options.lineWidth = 40;
  EXPECT_EQ(tensorText(one, options, {"device='cuda:0'"}, {"grad_fn=<MulBackward0>"}),
            "tensor([1., 2.], device='cuda:0',\n       grad_fn=<MulBackward0>)");
}

TEST(TensorText, StridesCount) {
  ConcreteTensor square = tensorOf("int64", "2x2", "1,2,3,4");
  std::swap(square.strides[0], square.strides[1]);
  EXPECT_EQ(tensorText(square, {}, {}, {}), "tensor([[1, 3],\n        [2, 4]])");
}

} // namespace
} // namespace pellucid::trace
