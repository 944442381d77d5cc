"""Measure everything and write `results/*.json` and `docs/performance.md`."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def main() -> None:
    """Run the benchmarks named on the command line, or all."""
    from page import format_rate, write_page
    from timing import describe_machine

    wanted = sys.argv[1:] or [path.stem for path in sorted(HERE.glob("bench_*.py"))]
    for name in wanted:
        documents = []
        module = import_module(name)
        for result in module.measure_all():
            document = result.to_document()
            documents.append(document)
            ratio = f"{document['ratio']:8.2f}×" if document["ratio"] else " " * 9
            met = {True: "met", False: "MISSED", None: ""}[document["met"]]
            print(f"{format_rate(document):>18} {ratio}  {met:7} {document['name']}")
        note = getattr(module, "NOTE", None)
        page = {"machine": describe_machine(), "note": note, "results": documents}
        target = HERE / "results" / f"{name.removeprefix('bench_')}.json"
        target.write_text(json.dumps(page, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_page(HERE / "results", HERE.parent / "docs" / "performance.md")


if __name__ == "__main__":
    main()
