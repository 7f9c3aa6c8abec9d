# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
# labels: gpu
use_cuda_template()
use_gpu()
replace(golden/scale/kernel.json "64, 128" "32, 64, 96, 128, 160, 192, 224, 256, 512, 1024")
replace(CMakeLists.txt "CMAKE_CUDA_ARCHITECTURES 90" "CMAKE_CUDA_ARCHITECTURES ${GPU}")
configure()
build()

# In a view of the file system of its own, in which the device's nodes turn into others once a first candidate was
# measured. What a driver that lost its device says in truth is not seen so.
write(run.sh [[
kagent=$1 build=$2
"$kagent" optimize scale --build "$build" --width 1 --rounds 9 > told 2>&1 &
run=$!
until grep -q "round 2 of" told; do
  kill -0 $run || break
  sleep 0.05
done
for node in /dev/nvidia*; do
  [ ! -c "$node" ] || mount --bind /dev/null "$node"
done
wait $run
echo "ended with $?"
cat told
]])
_run(unshare --mount --propagation private mount --bind /dev/null /dev/null)
if(NOT status EQUAL 0)
  message("SKIPPED: no view of the file system of its own: ${output}")
  return()
endif()
run(unshare --mount --propagation private bash run.sh "${KAGENT_BUILD}/bin/kagent" "${BUILD}")
message("${output}")
expect_no_output("ended with 0")
if(NOT output MATCHES "kagent: the GPU (was lost|cannot be used): ")
  _fail("nothing says that the GPU is gone")
endif()
expect_output("fix: ")

run("${KAGENT_BUILD}/bin/kagent" optimize scale --build "${BUILD}" --width 2 --rounds 1)
expect_output("; goes on after ")
