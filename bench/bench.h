/* SPDX-License-Identifier: MIT */
#ifndef PFB_BENCH_H
#define PFB_BENCH_H

/* Common parts of the benchmark programs.
 *
 * A benchmark is named SUBJECT/.../WHAT/COUNT: WHAT is what is measured, COUNT the number of instances. A baseline has
 * the same name with another WHAT ("typical", "plain", "twin" or "memcpy") and may omit parts in the middle. report.py
 * computes ratios by this rule; promises.py uses full names. Each benchmark counts its items; a baseline counts those
 * of the benchmark it is compared with. */
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>

namespace bench
{

/* The same numbers in every run. The C++ standard specifies the output of this generator, but not of its distributions.
 */
class numbers
{
  public:
    /* Returns a number from low to high, inclusive. The bias of the modulo does not matter here. */
    uint64_t between(uint64_t low, uint64_t high)
    {
        return low + generator() % (high - low + 1);
    }

  private:
    std::mt19937_64 generator{20240503};
};

template <class Function> benchmark::internal::Benchmark *add(const std::string &name, size_t count, Function function)
{
    return benchmark::RegisterBenchmark((name + "/" + std::to_string(count)).c_str(), function);
}

inline void count_items(benchmark::State &state, size_t items)
{
    state.SetItemsProcessed(static_cast<int64_t>(items) * static_cast<int64_t>(state.iterations()));
}

/* Runs the registered benchmarks. A filter that matches none is a failure. */
inline int run(int argc, char **argv)
{
    benchmark::AddCustomContext("compiler", __VERSION__);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    size_t ran = benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return ran > 0 ? 0 : 1;
}

} // namespace bench

#endif
