// The kernels of the virtual accelerator in C++: what `calls.py` does, for calls that need no
// decision. All others go on to the Python kernel of the same operation, which is registered under
// a dispatch key that nothing else uses.

#include <ATen/core/TensorBody.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;

constexpr int kMost = 8;          // devices
constexpr int64_t kBlock = 512;   // bytes, of CUDA's allocator

struct Counts {  // of one device, as `memory.py` reads them
  int64_t used, peak, count, live;
};
Counts counts[kMost];
int32_t enabled = 1;
int32_t devices = 0;  // that there are

void add(int64_t* number, int64_t what) { __atomic_add_fetch(number, what, __ATOMIC_RELAXED); }

// A storage over the memory of another one, which it keeps alive.
struct Owner {
  c10::Storage storage;
  int64_t size;  // that was counted
  int index;
};

void release(void* context) {
  auto* owner = static_cast<Owner*>(context);
  if (owner->size) {
    add(&counts[owner->index].used, -owner->size);
    add(&counts[owner->index].live, -1);
  }
  delete owner;
}

c10::Storage over(const c10::Storage& storage, c10::Device device, int64_t size, int index) {
  void* data = storage.mutable_data();
  auto* owner = new Owner{storage, size, index};
  return c10::Storage(c10::Storage::use_byte_size_t(), storage.nbytes(),
                      c10::DataPtr(data, owner, &release, device), nullptr, false);
}

at::Tensor shaped(c10::Storage storage, DispatchKey key, const at::Tensor& model) {
  auto made = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), DispatchKeySet(key),
                                                       model.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(model.sizes(), model.strides(),
                                                    model.storage_offset());
  return made;
}

// A tensor over the memory of a device tensor: where a kernel here made that, over the storage that
// it was made of.
at::Tensor to_host(const at::Tensor& device) {
  const c10::DataPtr& data = device.storage().data_ptr();
  if (data.get_deleter() == &release) {
    const auto& host = static_cast<Owner*>(data.get_context())->storage;
    if (host.nbytes() == device.storage().nbytes() && host.device().is_cpu()) {
      return shaped(host, DispatchKey::CPU, device);
    }
  }
  return shaped(over(device.storage(), c10::Device(c10::kCPU), 0, 0), DispatchKey::CPU, device);
}

at::Tensor to_device(const at::Tensor& host, int index) {
  TORCH_CHECK(host.layout() == c10::kStrided && host.device().is_cpu(),
              "samedevice: a kernel gave a tensor of another kind");
  int64_t size = (static_cast<int64_t>(host.storage().nbytes()) + kBlock - 1) & -kBlock;
  if (size) {
    auto& device = counts[index];
    add(&device.count, 1);
    add(&device.live, 1);
    add(&device.used, size);
    if (device.used > device.peak) device.peak = device.used;
  }
  return shaped(over(host.storage(), c10::Device(c10::kCUDA, index), size, index),
                DispatchKey::CUDA, host);
}

struct Operation {
  bool floats = false;   // other types of numbers are for the Python kernel to judge
  int device = -1;       // the position of the argument `device`, for what makes tensors
  int pinned = -1;       // the same of `pin_memory`
  int absent = -1;       // the position of a flag that has to be false
  std::vector<int> aliases;  // for each result the argument that it is, or -1
};
std::unordered_map<const void*, Operation> operations;
std::vector<c10::RegistrationHandleRAII> registrations;

bool is_plain(const at::Tensor& tensor, const Operation& operation, int& index) {
  if (!tensor.defined()) return true;
  if (!tensor.is_cuda()) {
    return tensor.is_cpu() && tensor.unsafeGetTensorImpl()->is_wrapped_number();
  }
  if (tensor.layout() != c10::kStrided || tensor.is_nested() || tensor.is_conj() ||
      tensor.is_neg() || tensor._is_zerotensor() || tensor.is_quantized() ||
      tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides()) {
    return false;
  }
  if (operation.floats && tensor.scalar_type() != c10::kFloat &&
      tensor.scalar_type() != c10::kDouble) {
    return false;
  }
  int here = tensor.get_device();
  if (index < 0) index = here;
  return here == index;
}

// Tells whether a call needs no decision, and the device that it is on.
bool is_plain(c10::ArrayRef<IValue> args, const Operation& operation, int& index) {
  if (!enabled) return false;
  if (operation.absent >= 0 && args[operation.absent].toBool()) return false;
  for (const auto& value : args) {
    if (value.isTensor()) {
      if (!is_plain(value.toTensor(), operation, index)) return false;
    } else if (value.isTensorList()) {
      for (const at::Tensor& item : value.toTensorList()) {
        if (!is_plain(item, operation, index)) return false;
      }
    } else if (value.isList()) {  // of tensors that may be absent
      for (const IValue& item : value.toListRef()) {
        if (item.isTensor()) return false;
      }
    }
  }
  if (operation.device >= 0 && args[operation.device].isDevice()) {
    auto device = args[operation.device].toDevice();
    if (!device.is_cuda() || !device.has_index()) return false;
    index = device.index();
  }
  return index >= 0 && index < devices;
}

at::Tensor host_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cuda() ? to_host(tensor) : tensor;
}

void on_python(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  op.redispatchBoxed(DispatchKeySet(DispatchKey::PrivateUse3), stack);
}

void compute(const c10::OperatorHandle& op, DispatchKeySet, torch::jit::Stack* stack) {
  const Operation& operation = operations.at(&op.schema());
  const size_t size = op.schema().arguments().size();
  const size_t first = stack->size() - size;
  int index = -1;
  if (!is_plain(c10::ArrayRef<IValue>(stack->data() + first, size), operation, index)) {
    return on_python(op, stack);
  }
  std::vector<std::pair<int, at::Tensor>> written;
  for (int argument : operation.aliases) {
    if (argument >= 0) written.emplace_back(argument, (*stack)[first + argument].toTensor());
  }
  for (size_t at = first; at < stack->size(); ++at) {
    IValue& value = (*stack)[at];
    if (value.isTensor()) {
      value = IValue(host_of(value.toTensor()));
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> hosts;
      for (const at::Tensor& item : value.toTensorList()) hosts.push_back(host_of(item));
      value = IValue(std::move(hosts));
    }
  }
  if (operation.device >= 0) (*stack)[first + operation.device] = IValue();
  if (operation.pinned >= 0) (*stack)[first + operation.pinned] = IValue();
  op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), stack);
  size_t next = 0;
  for (size_t at = first; at < stack->size(); ++at) {
    IValue& value = (*stack)[at];
    int argument = operation.aliases[at - first];
    if (argument >= 0) {
      value = IValue(written[next++].second);
    } else if (value.isTensor()) {
      const at::Tensor& made = value.toTensor();
      if (made.defined()) value = IValue(to_device(made, index));
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> devices;
      for (const at::Tensor& item : value.toTensorList()) devices.push_back(to_device(item, index));
      value = IValue(std::move(devices));
    }
  }
}

// For what reads and writes sizes, strides and storages only.
void look(const c10::OperatorHandle& op, DispatchKeySet, torch::jit::Stack* stack) {
  op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), stack);
}

// torch warns where a composite operation gets a kernel.
struct Silent : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

int position(const c10::FunctionSchema& schema, const char* name) {
  auto found = schema.argumentIndexWithName(name);
  return found.has_value() ? static_cast<int>(*found) : -1;
}

}  // namespace

extern "C" {

int64_t* samedevice_counts() { return reinterpret_cast<int64_t*>(counts); }

int32_t* samedevice_enabled() { return &enabled; }

int32_t* samedevice_devices() { return &devices; }

// Returns 0 when this torch has no such operation.
int samedevice_register(const char* name, const char* overload, int floats, int views, int absent) {
  auto& dispatcher = c10::Dispatcher::singleton();
  auto op = dispatcher.findSchema({name, overload});
  if (!op.has_value()) return 0;
  const auto& schema = op->schema();
  Operation operation;
  operation.floats = floats;
  operation.absent = absent;
  operation.device = position(schema, "device");
  operation.pinned = position(schema, "pin_memory");
  for (const auto& result : schema.returns()) {
    int from = -1;
    if (result.alias_info() && result.alias_info()->isWrite()) {
      for (size_t at = 0; at < schema.arguments().size(); ++at) {
        const auto* info = schema.arguments()[at].alias_info();
        if (info && info->beforeSets() == result.alias_info()->beforeSets()) from = at;
      }
    }
    operation.aliases.push_back(from);
  }
  operations.emplace(&schema, std::move(operation));
  Silent silent;
  c10::WarningUtils::WarningHandlerGuard guard(&silent);
  auto kernel = views ? c10::KernelFunction::makeFromBoxedFunction<&look>()
                      : c10::KernelFunction::makeFromBoxedFunction<&compute>();
  registrations.push_back(dispatcher.registerImpl(op->operator_name(), DispatchKey::CUDA,
                                                  std::move(kernel), std::nullopt, nullptr,
                                                  "samedevice"));
  return 1;
}

void samedevice_forget() {
  registrations.clear();
  operations.clear();
}
}
