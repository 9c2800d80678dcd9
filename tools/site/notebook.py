"""Pages of the documentation site from Jupyter notebooks, as Markdown."""
import json
import pathlib


def notebook_to_markdown(path):
    """The cells in order: Markdown as it is, code as a block. The page begins with the title, then says how to run the notebook."""
    book = json.loads(pathlib.Path(path).read_text())
    parts = []
    for cell in book["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    title, _, rest = parts[0].partition("\n")
    note = f"This page is the notebook [{path.name}]({path.name}), without its output. [Notebooks](README.md) says how to run it."
    return "\n\n".join([title, note, rest.strip()] + parts[1:]) + "\n"
