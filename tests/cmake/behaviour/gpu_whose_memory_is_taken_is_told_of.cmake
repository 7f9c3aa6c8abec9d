# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
# labels: gpu
use_cuda_template()
use_gpu()
replace(CMakeLists.txt "CMAKE_CUDA_ARCHITECTURES 90" "CMAKE_CUDA_ARCHITECTURES ${GPU}")
configure()
build()

# Takes all memory of the GPU until its standard input ends.
write(take.cu [[
#include <cstdio>
int main() {
  for (std::size_t size = std::size_t{1} << 34; size >= 4096; size /= 2)
    for (void* taken = nullptr; cudaMalloc(&taken, size) == cudaSuccess;) continue;
  std::puts("taken");
  std::fflush(stdout);
  std::getchar();
}
]])
run("${NVCC}" -o "${PROJECT}/take" take.cu)
write(run.sh [[
kagent=$1 build=$2
coproc taker { ./take; }
pid=$taker_PID
read -r -u "${taker[0]}" answer
"$kagent" verify scale --build "$build" 2>&1
echo "ended with $?"
exec {taker[1]}>&-
wait "$pid"
"$kagent" verify scale --build "$build" 2>&1
echo "then with $?"
]])
run(bash run.sh "${KAGENT_BUILD}/bin/kagent" "${BUILD}")
message("${output}")
expect_no_output("ended with 0")
expect_output("end other programs on the GPU (nvidia-smi lists them)")
expect_output("then with 0")
