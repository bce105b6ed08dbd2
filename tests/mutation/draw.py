"""Draw mutants of the engine: copies of its modules with one operator, number or branch changed.

python -m tests.mutation.draw COUNT SEED FILE [FOLDER ...]        (needs cosmic-ray, whose operators these are)

Of all modules, or of those in some folders of the engine, such as `views`. Changes to annotations only are no mutants,
as nothing runs them. FILE is JSON, for `tests.mutation.run`.
"""

import ast
import difflib
import itertools
import json
import random
import sys
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

# An operator is replaced by one of its own kind: others would be TypeErrors, which any test finds.
_KINDS = ({"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"}, {"BitAnd", "BitOr", "BitXor"}, {"LShift", "RShift"})
ENGINE = Path(__file__).parents[2] / "src" / "semigp" / "core"


class _Running(ast.NodeTransformer):
    """A program without what is never run."""

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        node.annotation = ast.Constant(None)
        return node

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        return node


def _meaning(source):
    return ast.dump(_Running().visit(ast.parse(source)))


def _is_fair(name):
    kind, *operators = name.split("/")[1].split("_")
    if kind == "ReplaceBinaryOperator":
        return any(set(operators) <= alike for alike in _KINDS)
    return not kind.startswith("Variable")  # those want to be told a variable


def mutants(path):
    """Every change of one module, as (operator, number of its occurrence)."""
    tree = get_ast(path.read_text())
    for name in filter(_is_fair, operator_names()):
        operator = get_operator(name)()
        occurrences = sum(len(list(operator.mutation_positions(node))) for node in ast_nodes(tree))
        yield from ((name, i) for i in range(occurrences))


def describe(path, name, occurrence):
    """The changed module, and the line that changed; None if nothing that runs did."""
    source = path.read_text()
    changed = mutate_code(source, get_operator(name)(), occurrence)
    try:
        if changed is None or _meaning(changed) == _meaning(source):
            return None
    except SyntaxError:
        return None
    lines = list(difflib.unified_diff(source.splitlines(), changed.splitlines(), n=0, lineterm=""))[2:]
    return {"module": str(path.relative_to(ENGINE)), "operator": name, "change": lines, "source": changed}


def main():
    count, seed, target = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    folders = [ENGINE / name for name in sys.argv[4:]] or [ENGINE]
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    everything = [(path, *which) for path in paths for which in mutants(path)]
    random.Random(seed).shuffle(everything)
    drawn = list(itertools.islice(filter(None, (describe(*place) for place in everything)), count))
    target.write_text(json.dumps(drawn))
    print(f"{len(drawn)} mutants of {len(everything)}")


if __name__ == "__main__":
    main()
