"""PipelineDP, on its local backend (its others need Beam, or Spark's resilient data sets)."""

import pipeline_dp
import pyarrow.parquet as parquet

PACKAGES = ("pipeline-dp", "python-dp", "numpy", "pyarrow")

METRICS = pipeline_dp.Metrics


def rows(job, name):
    """(person, what they hold), which its extractors take apart again."""

    def read():
        return list(enumerate(parquet.read_table(job["data"], columns=[name])[name].to_pylist()))

    if job["via"] == "file":
        return read
    pairs = read()
    return lambda: pairs


def second(row):
    return row[1]


def nothing(_row):
    return 0


def aggregated(job, pairs, metrics, group, value, groups, **bounds):
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=job["epsilon"], total_delta=job["delta"])
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0], partition_extractor=group, value_extractor=value
    )
    parameters = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.LAPLACE, metrics=metrics, max_partitions_contributed=1,
        max_contributions_per_partition=1, **bounds,
    )  # fmt: skip
    result = engine.aggregate(pairs, parameters, extractors, public_partitions=groups)
    accountant.compute_budgets()
    return dict(result)


def count(job):
    pairs = rows(job, "clicked")

    def work():
        found = aggregated(job, pairs(), [METRICS.COUNT], second, nothing, [1])
        return found[1].count

    return work


def histogram(job):
    pairs, keys = rows(job, "key"), list(range(job["keys"]))

    def work():
        found = aggregated(job, pairs(), [METRICS.COUNT], second, nothing, keys)
        return [found[key].count for key in keys]

    return work


def mean(job):
    pairs, (low, high) = rows(job, "value"), job["bounds"]

    def work():
        found = aggregated(job, pairs(), [METRICS.MEAN], nothing, second, [0], min_value=low, max_value=high)
        return found[0].mean

    return work


def quantiles(job):
    """From Google's quantile tree: four levels of 16, whatever bins were asked for."""
    pairs, (low, high) = rows(job, "value"), job["bounds"]
    metrics = [METRICS.PERCENTILE(100.0 * part) for part in job["parts"]]

    def work():
        found = aggregated(job, pairs(), metrics, nothing, second, [0], min_value=low, max_value=high)
        return sorted(found[0])

    return work
