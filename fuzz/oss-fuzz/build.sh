#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite require. Environment: CC, CXX, CFLAGS, CXXFLAGS and
# LIB_FUZZING_ENGINE are the compilers, their flags and the engine; SRC contains the folder perfblock; WORK receives the
# build, and OUT each target with its dictionary, options and seeds. Without any of these variables, it builds this checkout
# for libFuzzer in build/oss-fuzz.

if [[ -n ${SRC:-} ]]; then
    source=$SRC/perfblock
else
    source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
    WORK=${WORK:-$source/build/oss-fuzz}
    OUT=${OUT:-$source/build/oss-fuzz/out}
fi
: "${CC:=clang}" "${CXX:=clang++}"
: "${CFLAGS:=-O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address -fsanitize=fuzzer-no-link}"
: "${CXXFLAGS:=$CFLAGS}"
export LIB_FUZZING_ENGINE=${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}
build=$WORK/perfblock
mkdir -p "$OUT"
options=(
    -DCMAKE_BUILD_TYPE=RelWithDebInfo
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$CFLAGS"
    -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$CXXFLAGS"
    -DPERFBLOCK_FUZZERS=ON -DPERFBLOCK_TESTS=OFF -DPERFBLOCK_EXAMPLES=OFF -DPERFBLOCK_INSTALL=OFF
    -DPERFBLOCK_CLI=ON -DPERFBLOCK_SQLITE=OFF # the machines that run the targets lack the library
)
cmake -S "$source" -B "$build" "${options[@]}"
cmake --build "$build" --parallel "$(nproc)"

for program in "$build"/fuzz/*_fuzzer; do
    name=$(basename "$program")
    subject=${name%_fuzzer}
    cp "$program" "$OUT/"
    cp "$source/fuzz/$subject.dict" "$OUT/$name.dict"
    printf '[libfuzzer]\nmax_len = 65536\ntimeout = 25\n' >"$OUT/$name.options"
    seeds=()
    for folder in seeds found regress; do
        for file in "$source/corpus/$subject/$folder"/*; do
            [[ ! -f $file ]] || seeds+=("$file")
        done
    done
    rm -f "$OUT/${name}_seed_corpus.zip"
    zip -q -j "$OUT/${name}_seed_corpus.zip" "${seeds[@]}"
done
