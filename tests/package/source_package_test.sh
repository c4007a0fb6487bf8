#!/usr/bin/env bash
# The tarball of the sources holds what git has, and nothing that a build makes.
#
# usage: source_package_test.sh BUILD_DIRECTORY CPACK
set -euo pipefail

build=$1
cpack=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
# A clone may be another user's, as in a CI's container.
git_here() { git -c safe.directory="$top" -C "$top" "$@"; }
if ! git_here rev-parse --git-dir > /dev/null 2>&1; then
  echo "there is no repository of git here to compare a tarball with"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cpack" --config "$build/CPackSourceConfig.cmake" -G TGZ -B "$work" > "$work/log" \
  || { cat "$work/log"; exit 1; }
tarball=("$work"/warptwin-*.tar.gz)
version=$(basename "${tarball[0]}" .tar.gz)
tar -tzf "${tarball[0]}" | grep -v '/$' | sed "s,^$version/,," | sort > "$work/packed"
# A file that is deleted and not yet committed is in neither.
git_here ls-files --cached --others --exclude-standard | while IFS= read -r file; do
  [[ ! -e $top/$file ]] || echo "$file"
done | sort > "$work/tracked"
if ! diff "$work/tracked" "$work/packed"; then
  echo "< git has it and the tarball has not; > the other way round"
  exit 1
fi
echo "the tarball has the $(wc -l < "$work/packed") files that git has"
