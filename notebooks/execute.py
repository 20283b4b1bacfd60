"""Executes the notebooks, each in a process of its own and beside this file.

    python notebooks/execute.py             writes their outputs
    python notebooks/execute.py --check     holds the text of their outputs against what is written

Needs requirements.txt, and the windtunnel program: WINDTUNNEL names it, else it is looked for on the
path. Figures are compared as text where they are printed; pictures are only drawn.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def main() -> None:
    check = "--check" in sys.argv[1:]
    wrong = [name for name in sorted(HERE.glob("*.ipynb")) if not execute(name, check)]
    sys.exit(1 if wrong else 0)


def execute(path: Path, check: bool) -> bool:
    book = nbformat.read(path, as_version=4)
    before = texts(book)
    NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": HERE}}).execute()
    if not check:
        tidy(book)
        nbformat.write(book, path)
        print(f"{path.name}: written")
        return True
    for cell, (was, now) in enumerate(zip(before, texts(book))):
        if was != now:
            print(f"{path.name}: cell {cell} no longer prints what is written.\nwritten:\n{was}\nnow:\n{now}")
            return False
    print(f"{path.name}: as written")
    return True


def texts(book) -> list[str]:
    """What each cell prints and what its last line is, without pictures and their names."""
    return [
        "".join(output.get("text", "") or text_of(output) for output in cell.get("outputs", []))
        for cell in book.cells
    ]


def text_of(output) -> str:
    data = output.get("data", {})
    return "" if "image/png" in data else data.get("text/plain", "")


def tidy(book) -> None:
    """Leaves out what changes from run to run."""
    for cell in book.cells:
        cell.get("metadata", {}).pop("execution", None)
    book.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


if __name__ == "__main__":
    main()
