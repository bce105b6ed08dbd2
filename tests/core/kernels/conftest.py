"""Every kernel of a module of tests goes through the battery."""


def pytest_generate_tests(metafunc):
    kernels = getattr(metafunc.module, "KERNELS", {})
    smooth = {name: pair for name, pair in kernels.items() if "matern" not in name and "×" not in name}
    for argument, some in (("pair", kernels), ("gaussian", smooth)):
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, list(some.values()), ids=list(some))
