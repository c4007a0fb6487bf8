#!/usr/bin/env bash
# Installs a build into a folder of its own, and builds and runs another project against it.
#
# usage: package_test.sh BUILD_DIRECTORY
set -euo pipefail

build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"
"$work/prefix/bin/warptwin" list > /dev/null

# The consumer is compiled the way the build was; a sanitizer's runtime is part of its libraries.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
type=$(cached CMAKE_BUILD_TYPE)
flags_of_type="CMAKE_CXX_FLAGS_${type^^}"
cmake -S "$here" -B "$work/build" -G "$(cached CMAKE_GENERATOR)" \
  -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE="$type" \
  "-D$flags_of_type=$(cached "$flags_of_type")" > "$work/configure.log"
cmake --build "$work/build" > "$work/build.log" || { cat "$work/build.log"; exit 1; }

command=$work/build/ring_study
"$command" list > "$work/list.txt"
if ! grep -q three_stage_ring "$work/list.txt"; then
  echo "list does not show three_stage_ring"
  exit 1
fi
"$command" check three_stage_ring --random 2 --pct 2
if "$command" check no_such_scenario 2> /dev/null; then
  echo "an unknown scenario is not refused"
  exit 1
fi
echo "the installed package builds a command, and its scenario is clean"
