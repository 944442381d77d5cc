import os
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import rowkey
from rowkey import Design
from rowkey.regions import to_binary
from rowkey.simulate import cut_design, run
from rowkey.table import load_file
from rowkey.workload import open_sample

DATA = Path(__file__).parent.parent / "data"
EXAMPLES = Path(str(resources.files(rowkey))) / "examples"
MOST = None if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 50_000
"""Rows of each file that are loaded; all of them in `make test-long`."""
SIXTEEN = {"algorithm": "sample", "regions": 16}
DESIGNS: dict[str, tuple[Path, dict[str, Any]]] = {
    "flights": (
        EXAMPLES / "flights.parquet",
        {
            "key": "[bucket(carrier, flight, 16)][carrier][flight][time][origin]",
            "splits": "per_bucket",
            "fields": {
                "time": {"type": "timestamp_s", "from": "time_hour"},
                "carrier": "text",
                "flight": "u16",
                "origin": "text",
                "dest": "text",
            },
        },
    ),
    "nab": (
        DATA / "nab_real_streams.csv.gz",
        {
            "key": "[sensor][timestamp]",
            "splits": SIXTEEN,
            "fields": {
                "sensor": "text",
                "timestamp": "timestamp_s",
                "value": {"type": "float64", "nullable": True},
            },
        },
    ),
    "cdnow": (
        DATA / "CDNOW_master.txt.gz",
        {
            "key": "[mod(date, 7)][date][customer_id]",
            "splits": "per_bucket",
            "fields": {
                "customer_id": "text",
                "date": "date",
                "number_of_cds": "u16",
                "dollar_value": {"type": "decimal", "precision": 9, "scale": 2},
            },
        },
    ),
    "apache": (
        EXAMPLES / "apache_access.log.gz",
        {
            "key": "[bucket(client, 16)][client][desc(time)]",
            "splits": "per_bucket",
            "fields": {
                "client": "text",
                "time": "timestamp_s",
                "path": "text",
                "status": "u16",
                "bytes": {"type": "u32", "nullable": True},
            },
        },
    ),
}


def shortened(name: str, folder: Path) -> Path:
    """The first rows of a recording as a file of its own; the recording itself where all count."""
    path, words = DESIGNS[name]
    if MOST is None:
        return path
    design = Design("t", **words)
    batches = [events.rows for events in open_sample(path, design.fields, None).events()]
    table = pa.Table.from_batches(batches).slice(0, MOST)
    sources = [design.fields[column].words.source or column for column in table.column_names]
    parquet.write_table(table.rename_columns(sources), folder / "short.parquet")
    return folder / "short.parquet"


def created(name: str, sample: Path) -> Design:
    """The design with the boundaries it is created with, so that all rows are judged by them."""
    words = DESIGNS[name][1]
    cut = cut_design(Design("t", **words, cluster={"servers": 8}), sample)
    listed = [to_binary(split) for split in cut.boundaries.splits]
    return Design("t", **(words | {"splits": listed}), cluster={"servers": 8})


@pytest.mark.parametrize("name", sorted(DESIGNS))
def test_regions_count_what_was_predicted(name: str, tmp_path: Path) -> None:
    """Every row of a real recording lands where simulate says, region by region, exactly."""
    sample = shortened(name, tmp_path)
    design = created(name, sample)
    predicted = run(design, sample)
    with rowkey.open(design, f"rocks:{tmp_path / 'data'}") as table:
        loaded = load_file(table, sample)
        counted = [region.writes for region in table.regions()]
        rows = table.count()
    assert loaded.rows == predicted.operations == sum(counted)
    assert [region.writes for region in predicted.regions] == counted
    if predicted.overwritten_exact:
        assert rows == predicted.operations - predicted.overwritten
