/* SPDX-License-Identifier: MIT */
#ifndef PFB_BENCH_H
#define PFB_BENCH_H

/* What the benchmark programs share.
 *
 * A benchmark is called SUBJECT/.../WHAT/COUNT: WHAT is what was measured, COUNT how many instances there were.
 * Baselines have the same name but for WHAT, which is "typical", "plain", "twin" or "memcpy", and may leave out parts
 * in the middle; report.py forms the ratios by this rule, promises.py names benchmarks in full. Each benchmark counts
 * its items: a baseline's are those of what it stands beside. */
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>

namespace bench
{

/* The same numbers in every run. The standard fixes this generator's output, not that of its distributions. */
class numbers
{
  public:
    /* From low to high, both included. The modulo's bias is of no account here. */
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

/* Runs what was registered. A filter that matches nothing is a failure: an empty result says nothing. */
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
