// SPDX-License-Identifier: Apache-2.0
// Tensors of other libraries: shared, kept alive, given back, or refused by name.
#include "Near.h"

#include <pellucid/dlpack.h>

namespace pellucid::test {
namespace {

/// Another library's tensor of 3 rows of 4 in memory of 3 rows of 5.
struct Foreign {
  Foreign() {
    for (size_t i = 0; i < 15; ++i)
      data[i] = static_cast<float>(i) - 6;
    managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned *self) {
      ++static_cast<Foreign *>(self->manager_ctx)->deleted;
    };
    managed.dl_tensor.data = data;
    managed.dl_tensor.device = {kDLCPU, 0};
    managed.dl_tensor.ndim = 2;
    managed.dl_tensor.dtype = {kDLFloat, 32, 1};
    managed.dl_tensor.shape = shape;
    managed.dl_tensor.strides = strides;
    managed.dl_tensor.byte_offset = 4;
  }
  float data[15];
  int64_t shape[2] = {3, 4}, strides[2] = {5, 1};
  int deleted = 0;
  DLManagedTensorVersioned managed{};
};

TEST(Dlpack, AForeignTensorIsSharedAndGivenBackOnce) {
  Foreign foreign;
  {
    Tensor x = from_dlpack(&foreign.managed);
    EXPECT_EQ(x.data<float>(), foreign.data + 1);
    EXPECT_FALSE(x.is_contiguous());
    std::vector<double> expected;
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 4; ++column)
        expected.push_back(std::exp(double(foreign.data[1 + row * 5 + column])));
    expectNear(exp(x), expected, 1e-6);
    call("aten::add_", {x, 1.0});
    EXPECT_EQ(foreign.data[1], -4) << "written in place";
    EXPECT_EQ(foreign.data[0], -6) << "and nothing beside it";
    Tensor copy = x;
    x = Tensor();
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(Dlpack, WithoutStridesItIsRowMajor) {
  Foreign foreign;
  foreign.managed.dl_tensor.strides = nullptr;
  EXPECT_TRUE(from_dlpack(&foreign.managed).is_contiguous());
}

TEST(Dlpack, OursOutlivesItsHandle) {
  Tensor x = rand({2, 3}, dtype::bfloat16, -1, 1, 5);
  std::vector<double> expected = values(x.transpose(0, 1));
  DLManagedTensorVersioned *shared = to_dlpack(x.transpose(0, 1));
  const void *data = x.data_ptr();
  x = Tensor();
  const DLTensor &t = shared->dl_tensor;
  EXPECT_EQ(t.data, data);
  EXPECT_EQ(t.byte_offset, 0u);
  EXPECT_EQ(t.dtype.code, kDLBfloat);
  EXPECT_EQ(t.dtype.bits, 16);
  ASSERT_EQ(t.ndim, 2);
  EXPECT_EQ(t.shape[0], 3);
  EXPECT_EQ(t.strides[0], 1);
  EXPECT_EQ(t.strides[1], 3);
  expectNear(from_dlpack(shared), expected, 0, 0);
}

TEST(Dlpack, RefusalsNameTheRuleAndLeaveTheTensorToItsOwner) {
  struct Case {
    void (*change)(DLManagedTensorVersioned &);
    const char *part;
  };
  const Case cases[] = {
      {[](DLManagedTensorVersioned &m) { m.version.major = 2; }, "version is 2."},
      {[](DLManagedTensorVersioned &m) { m.dl_tensor.device = {kDLCUDA, 1}; }, "cuda:1"},
      {[](DLManagedTensorVersioned &m) { m.dl_tensor.dtype = {kDLComplex, 64, 1}; }, "64 bits"},
      {[](DLManagedTensorVersioned &m) { m.dl_tensor.dtype.lanes = 4; }, "4 lanes"},
      {[](DLManagedTensorVersioned &m) { m.flags = DLPACK_FLAG_BITMASK_READ_ONLY; }, "read-only"},
      {[](DLManagedTensorVersioned &m) { m.dl_tensor.shape[1] = -4; }, "dim 1 is -4"},
  };
  for (const Case &one : cases) {
    Foreign foreign;
    one.change(foreign.managed);
    std::string text = errorOf([&] { (void)from_dlpack(&foreign.managed); });
    EXPECT_TRUE(contains(text, "from_dlpack") && contains(text, one.part)) << text;
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_TRUE(contains(errorOf([] { (void)from_dlpack(nullptr); }), "NULL"));
  EXPECT_TRUE(contains(errorOf([] { (void)to_dlpack(Tensor()); }), "undefined"));
}

} // namespace
} // namespace pellucid::test
