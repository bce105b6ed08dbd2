"""The tests of the engine and of the estimators stand where their code stands."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
# Modules without tests of their own, and where what they do is tested.
ELSEWHERE = {
    "core/kernels/base.py": "a contract: the battery in core/kernels/battery.py",
    "core/numerics/compiler.py": "constants",
    "core/numerics/types.py": "a name for a type",
    "core/rows/few_steps.py": "in core/stream/test_objective.py",
    "estimators/common/component.py": "in regression/test_regressor.py",
    "estimators/latent/row_search.py": "in latent/test_gplvm.py",
    "estimators/views/checks.py": "in views/test_shared.py",
    "estimators/views/prediction.py": "in views/test_shared.py",
    "estimators/views/start.py": "in views/test_shared.py",
    "estimators/views/view_table.py": "in views/test_shared.py",
    "estimators/dynamics/kinds/base.py": "a contract: those who keep it have tests",
    "estimators/dynamics/kinds/time_member.py": "in dynamics/kinds/test_over_time.py",
    "estimators/few_labels/spaces.py": "in few_labels/test_classifier.py",
    "estimators/forecasting/priors/driven_choice.py": "in forecasting/priors/test_driven.py",
    "estimators/forecasting/priors/driven_members.py": "in forecasting/priors/test_driven.py",
    "estimators/regression/missing_inputs.py": "in regression/test_regressor.py",
    "estimators/regression/posteriors/base.py": "a contract: those who keep it have tests",
    "estimators/stored.py": "in common/test_saving.py",
    "estimators/streaming/batches.py": "in streaming/test_regressor.py",
}


def _modules():
    package = ROOT / "src" / "semigp"
    paths = (path for part in ("core", "estimators") for path in (package / part).rglob("*.py"))
    return {path.relative_to(package) for path in paths if path.name != "__init__.py"}


def _mirror(module):
    return ROOT / "tests" / module.with_name(f"test_{module.name}")


def test_every_module_has_its_tests():
    lacking = {str(module) for module in _modules() if not _mirror(module).is_file()}
    assert sorted(lacking - set(ELSEWHERE)) == []


def test_no_exception_is_out_of_date():
    modules = {str(module): _mirror(module).is_file() for module in _modules()}
    assert [name for name in ELSEWHERE if modules.get(name, True)] == []
