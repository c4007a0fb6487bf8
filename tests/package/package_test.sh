#!/usr/bin/env bash
# Installs a build into a folder of its own, and builds and runs another project against it, first
# without CUDA; then, where the build has that side, with it.
#
# usage: package_test.sh BUILD_DIRECTORY
set -euo pipefail

build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$1"
  exit 1
}

cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"
"$work/prefix/bin/warptwin" list > /dev/null
for file in man/man1/warptwin.1 bash-completion/completions/warptwin; do
  [[ -s $work/prefix/share/$file ]] || { echo "there is no share/$file"; exit 1; }
done

# The stand-ins for CUDA are where the command looks for them.
"$work/prefix/bin/warptwin" cuda -- true 2> "$work/cuda.log" && fail "true launches no kernel"
grep -q "the program launched no kernel" "$work/cuda.log" || { cat "$work/cuda.log"; exit 1; }

# The consumer is compiled the way the build was; a sanitizer's runtime is part of its libraries.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
type=$(cached CMAKE_BUILD_TYPE)
flags_of_type="CMAKE_CXX_FLAGS_${type^^}"

# configure NAME OPTION...: into $work/NAME, with what it said in $work/NAME.log
configure() {
  local name=$1
  shift
  cmake -S "$here" -B "$work/$name" -G "$(cached CMAKE_GENERATOR)" \
    -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE="$type" \
    "-D$flags_of_type=$(cached "$flags_of_type")" "$@" > "$work/$name.log" 2>&1
}

compile() {
  cmake --build "$@" > "$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
}

configure plain -DRING_STUDY_CUDA=OFF || { cat "$work/plain.log"; exit 1; }
said=$(grep -c "there are no programs NAME-hw" "$work/plain.log" || true)
[[ $said == 1 ]] || fail "what is left out without CUDA is said $said times, not once"
compile "$work/plain"
command=$work/plain/ring_study
"$command" list > "$work/list.txt"
for scenario in three_stage_ring six_stage_ring; do
  grep -q "$scenario" "$work/list.txt" || fail "list does not show $scenario"
done
"$command" check three_stage_ring --random 2 --pct 2
if "$command" check no_such_scenario 2> /dev/null; then
  fail "an unknown scenario is not refused"
fi
echo "the installed package builds a command, and its scenario is clean"

ctest --test-dir "$work/plain" > "$work/ctest.log" || { cat "$work/ctest.log"; exit 1; }
for case in three_stage_ring six_stage_ring three_stage_ring.tiles=4,stages=2 \
  twice_freed_ring.MBAR_SURPLUS_ARRIVAL; do
  grep -qE " ring_study\.$case \.+ +Passed" "$work/ctest.log" || { cat "$work/ctest.log"; exit 1; }
done
ctest --test-dir "$work/plain" -N -L small | grep -q "Total Tests: 1" || fail "a label is lost"
for suffix in xml sarif; do
  [[ -s $work/plain/reports/ring_study.six_stage_ring.$suffix ]] || fail "no report .$suffix"
done
if configure lost -DRING_STUDY_CUDA=OFF -DRING_STUDY_CHECKED=lost_ring; then
  fail "an unknown scenario for warptwin_add_check is not refused"
fi
grep -q "there is no scenario lost_ring; there are: three_stage_ring, six_stage_ring" \
  <(tr -s '\n ' ' ' < "$work/lost.log") || { cat "$work/lost.log"; exit 1; }
# The same command, now with a case that must fail.
cmake -S "$here" -B "$work/plain" -DRING_STUDY_CHECKED=twice_freed_ring > /dev/null
if ctest --test-dir "$work/plain" -R 'ring_study\.twice_freed_ring$' > "$work/ctest.log" 2>&1; then
  fail "a finding does not fail its case"
fi
echo "its checks are cases of CTest"

# What `warptwin new` writes is checked by its own script, as its workflows do.
"$work/prefix/bin/warptwin" new "$work/my kernels" > /dev/null
CXXFLAGS=$(cached "$flags_of_type") CMAKE_GENERATOR=$(cached CMAKE_GENERATOR) \
  CMAKE_BUILD_TYPE=$type GITHUB_ACTIONS=1 bash "$work/my kernels/ci/check" "$work/prefix" \
  > "$work/new.log" 2>&1 || { cat "$work/new.log"; exit 1; }
grep -q "100% tests passed, 0 tests failed out of 3" "$work/new.log" || fail "cases are lost"
grep -q "2 of 2 as expected" "$work/new.log" || fail "check --all is not as expected"
for report in ctest.xml warptwin.xml warptwin.sarif; do
  [[ -s "$work/my kernels/build/$report" ]] || fail "the new repository has no report $report"
done
python3 "$here/first_kernel.py" "$work/my kernels" "$here/../../docs/first-kernel.md"
# A change that breaks the kernel breaks the script.
sed -i 's/stage.load(/if (tile != 1) stage.load(/' "$work/my kernels/kernels/first_ring.hpp"
if CXXFLAGS=$(cached "$flags_of_type") CMAKE_BUILD_TYPE=$type GITHUB_ACTIONS=1 \
  bash "$work/my kernels/ci/check" "$work/prefix" > "$work/new.log" 2>&1; then
  fail "a broken kernel does not fail the new repository"
fi
grep -q "^::error file=kernels/first_ring.hpp,line=" "$work/new.log" \
  || { cat "$work/new.log"; exit 1; }
echo "a new repository builds, is checked, and fails where it is broken"

compiler=$(cached CMAKE_CUDA_COMPILER)
if [[ $(cached WARPTWIN_BUILD_HW) != ON || ! -x $compiler ]]; then
  echo "no CUDA compiler: ring_study-hw is left out of this test"
  exit 0
fi
cuda=(-DCMAKE_CUDA_COMPILER="$compiler" -DWARPTWIN_RUN_ARCHITECTURES=90a-real)
if configure unknown "${cuda[@]}" -DRING_STUDY_HW_SCENARIOS=four_stage_ring; then
  fail "an unknown scenario for ring_study-hw is not refused"
fi
grep -q "ring_study-hw: there is no scenario four_stage_ring; there are:" "$work/unknown.log" \
  || { cat "$work/unknown.log"; exit 1; }

configure cuda "${cuda[@]}" -DRING_STUDY_HW_SCENARIOS=six_stage_ring \
  || { cat "$work/cuda.log"; exit 1; }
compile "$work/cuda" --target ring_study-hw
command=$work/cuda/ring_study-hw
[[ $("$command" list) == six_stage_ring ]] || fail "ring_study-hw has not the chosen scenario alone"
code=0
"$command" six_stage_ring || code=$?
[[ $code == 0 || $code == 4 ]] || fail "ring_study-hw ends with $code"
echo "it builds a program for a GPU, of the scenario that was chosen"
