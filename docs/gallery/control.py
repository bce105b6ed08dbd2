"""
A pendulum that learns to stand
===============================

A motor turns a pendulum, but it is too weak to lift it: the pendulum has to be swung up, to and fro. How it moves is
not known. This is learned from a few trials, in which the sensors are noisy and fail every now and then. The motor is
steered by simulating. The torques of the next seconds are chosen such that, for all the model knows, the pendulum comes
up and stays there. The first of them is applied, and then all is planned anew. This is called model-predictive control.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import map_coordinates
from scipy.optimize import minimize

from semigp import SemiDescribedGPRegressor

SEED, N_TRIALS, N_STEPS, STRONGEST = 0, 5, 50, 4.0  # trials of 50 steps; the strongest torque, in newton metres
SENSOR_STD = np.array([0.02, 0.1])  # how exact the sensors are: radians, and radians per second
random = np.random.default_rng(SEED)


def swing(angle, speed, torque):
    """The pendulum, a tenth of a second later. At angle 0 it stands. The model never looks in here."""
    for _ in range(20):
        speed = speed + 0.005 * (9.81 * np.sin(angle) - 0.1 * speed + torque)
        angle = angle + 0.005 * speed
    return np.array([angle, speed])


def measure(state):
    """What the two sensors say. Each of them says nothing in 15 % of the steps."""
    return np.where(random.random(2) < 0.15, np.nan, state + SENSOR_STD * random.normal(size=2))


# %%
# Learning
# --------
#
# Every step of a trial is a row of a table. Its inputs are the sine and the cosine of the angle, the speed, and the
# torque. Its outputs are by how much the angle changes, and the next speed. A reading that is missing leaves a hole in
# the inputs of one row and in the outputs of another. The model takes the table as it is. If a speed is missing, how
# far the pendulum went in that step says a lot about it, and the model makes use of this.
#
# The table does not say which row follows which. As the pendulum moves smoothly, straight lines through the gaps do as
# well as this with so few of them, and better with many (:doc:`/development/research-log`). Rows that are not
# steps of a smooth motion have no such neighbours.


def inputs_of(angle, speed, torque):
    return np.column_stack([np.sin(angle), np.cos(angle), speed, torque])


def learn(trials):
    X = [inputs_of(*readings[:-1].T, torques) for readings, torques in trials]
    y = [np.column_stack([np.diff(readings[:, 0]), readings[1:, 1]]) for readings, _ in trials]
    return SemiDescribedGPRegressor(n_draws=5, random_state=SEED).fit(np.concatenate(X), np.concatenate(y))


# %%
# A plan needs a hundred thousand predictions, most of them a few at a time. So the model is asked once, on a grid of
# angles, speeds and torques, and in between we interpolate. The standard deviation is that of the function: the
# noise of the sensors is not in it.

ANGLES, SPEEDS = np.linspace(-np.pi, np.pi, 49), np.linspace(-12, 12, 41)
TORQUES = np.linspace(-STRONGEST, STRONGEST, 5)


def tabulate(model):
    grid = np.meshgrid(ANGLES, SPEEDS, TORQUES, indexing="ij")
    mean, std = model.predict(inputs_of(*map(np.ravel, grid)), return_std=True)
    std = np.sqrt(np.maximum(std**2 - model.noise_variance_, 0))
    return [column.reshape(grid[0].shape) for column in (*mean.T, *std.T)]


def simulate(tables, states, torque, offsets):
    """The states (…, 2) after one step. Offset 1 is a function that is a standard deviation above the mean."""
    angle, speed = states[..., 0], np.clip(states[..., 1], SPEEDS[0], SPEEDS[-1])
    places = (
        (angle + np.pi) % (2 * np.pi) / (ANGLES[1] - ANGLES[0]),
        (speed - SPEEDS[0]) / (SPEEDS[1] - SPEEDS[0]),
        (torque - TORQUES[0]) / (TORQUES[1] - TORQUES[0]),
    )
    places = np.array(np.broadcast_arrays(*places))
    turn, speed, turn_std, speed_std = (map_coordinates(table, places, order=1, mode="nearest") for table in tables)
    return np.stack([angle + turn + offsets[..., 0] * turn_std, speed + offsets[..., 1] * speed_std], axis=-1)


# %%
# Planning
# --------
#
# A plan is a torque for each of the next 25 steps. It costs little if the pendulum stands, and stands still. The cost
# is averaged over four functions that the model holds possible, so that a plan does not rely on what is hardly known.
# The best of some random plans and of what is left of the last plan is improved by SciPy. All small changes of a plan,
# which make the gradient, are simulated side by side.

N_AHEAD = 25
POSSIBLE = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])


def cost(plans, state, tables):
    states, total = np.tile(state, (len(plans), len(POSSIBLE), 1)), 0.005 * (plans**2).sum(axis=1)
    for torque in STRONGEST * plans.T:
        states = simulate(tables, states, torque[:, None], POSSIBLE)
        total = total + (1 - np.cos(states[..., 0]) + 0.01 * states[..., 1] ** 2).mean(axis=1)
    return total / N_AHEAD


def cost_and_gradient(plan, state, tables, change=0.01):
    costs = cost(plan + change * np.vstack([np.zeros(N_AHEAD), np.eye(N_AHEAD)]), state, tables)
    return costs[0], (costs[1:] - costs[0]) / change


def improve(plan, state, tables, n_iterations=5):
    others = np.repeat(random.uniform(-1, 1, size=(50, N_AHEAD // 5)), 5, axis=1)
    plans = np.vstack([plan, others])
    best = plans[np.argmin(cost(plans, state, tables))]
    options = {"bounds": [(-1, 1)] * N_AHEAD, "options": {"maxiter": n_iterations}}
    return minimize(cost_and_gradient, best, args=(state, tables), jac=True, method="L-BFGS-B", **options).x


# %%
# The state itself is not known either. A hundred possible states go along with the pendulum: they move as the model
# says, each with a function of its own, and every reading pulls them together. As angle and speed are correlated, a
# reading of the one says something about the other, which may be missing. This is an ensemble Kalman filter.


def pull(states, reading):
    for sensor in np.flatnonzero(~np.isnan(reading)):
        covariance = np.cov(states.T)
        gain = covariance[sensor] / (covariance[sensor, sensor] + SENSOR_STD[sensor] ** 2)
        noisy = reading[sensor] + SENSOR_STD[sensor] * random.normal(size=len(states))
        states = states + gain * (noisy - states[:, sensor])[:, None]
    return states


def run(tables):
    """One trial: the true states, what the sensors said, and the torques. Without tables, torques are random."""
    state = np.array([np.pi, 0.0])
    states, readings, torques = [state], [measure(state)], []
    possible, plan = np.tile(state, (100, 1)), np.zeros(N_AHEAD)
    at_random = np.repeat(random.uniform(-1, 1, N_STEPS // 5), 5)
    for step in range(N_STEPS):
        if tables is not None:
            plan = improve(plan, possible.mean(axis=0), tables, n_iterations=5 if step else 30)
        torques.append(STRONGEST * (at_random[step] if tables is None else plan[0]))
        state = swing(*state, torques[-1])
        states.append(state)
        readings.append(measure(state))
        if tables is not None:
            possible = simulate(tables, possible, torques[-1], random.normal(size=(100, 2)))
            possible, plan = pull(possible, readings[-1]), np.append(plan[1:], 0)
    return np.array(states), np.array(readings), np.array(torques)


# %%
# Five trials
# -----------
#
# The first has random torques. From then on, the model learns from all trials before, and steers the next one.

trials, known = [], []
for number in range(N_TRIALS):
    known.append(None if number < 1 else tabulate(learn([trial[1:] for trial in trials])))
    trials.append(run(known[-1]))
    height, n_missing = np.cos(trials[-1][0][:, 0]), np.isnan(trials[-1][1]).sum()
    print(f"trial {number + 1}: mean cost {np.mean(1 - height):.2f}, height in the last second", end=" ")
    print(f"{height[-10:].mean():+.2f}, {n_missing} of {2 * len(height)} readings missing")

# %%
# Figures
# -------
#
# The pendulum in the first trial and in the last one, a tenth of a second apart, from dark to bright. In the last trial
# it swings to one side and to the other, higher each time, goes up, and stays there.

fig, panels = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for axes, number in zip(panels, (0, N_TRIALS - 1), strict=True):
    for step, (angle, _) in enumerate(trials[number][0]):
        colour = plt.get_cmap("viridis")(step / N_STEPS)
        axes.plot([0, np.sin(angle)], [0, np.cos(angle)], color=colour, lw=1, alpha=0.5)
        axes.plot(np.sin(angle), np.cos(angle), "o", color=colour, ms=9, alpha=0.8)
    axes.plot(0, 0, "ks", ms=7)
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal", title=f"trial {number + 1}")
    axes.axis("off")
seconds = plt.cm.ScalarMappable(plt.Normalize(0, N_STEPS / 10), "viridis")
fig.colorbar(seconds, ax=panels, label="seconds", shrink=0.7)

# %%
# Every trial over time, and what it cost.

colours = plt.get_cmap("viridis")(np.linspace(0.9, 0.1, N_TRIALS))
time = np.arange(N_STEPS + 1) / 10
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained", width_ratios=[2.4, 1])
for number, ((states, _, _), colour) in enumerate(zip(trials, colours, strict=True)):
    left.plot(time, np.cos(states[:, 0]), color=colour, lw=2, label=f"trial {number + 1}")
left.set(xlabel="seconds", ylabel="height", yticks=[-1, 0, 1], yticklabels=["hangs", "level", "stands"])
left.legend(frameon=False, ncols=N_TRIALS, loc="lower left", bbox_to_anchor=(0, 1))
right.bar(range(1, N_TRIALS + 1), [np.mean(1 - np.cos(states[:, 0])) for states, _, _ in trials], color=colours)
right.set(xlabel="trial", ylabel="mean cost")

# %%
# How well did the model know what would come? Each planned trial had a model, learned from the trials before. Here it
# gets the torques that were then applied, and simulates the whole trial from the start, without a look at the sensors.
# The bands hold 50 and 90 % of 500 paths, each with an offset of its own.
#
# After one trial the model knows only how the pendulum swings near the bottom. Its fan is wide, but not wide enough:
# the pendulum goes faster than it ever did before, and leaves the fan. That trial then shows the model what happens
# there. Before the last trial it foresees more than three seconds. Then the pendulum comes near the top, where the
# smallest difference decides to which side it falls, and the fan opens. It stands all the same, as every step is
# planned anew from the latest readings.

fig, panels = plt.subplots(1, 2, figsize=(11, 3.6), sharey=True, layout="constrained")
for axes, number in zip(panels, (1, N_TRIALS - 1), strict=True):
    states, readings, torques = trials[number]
    functions, path = random.normal(size=(500, 2)), [np.tile(states[0], (500, 1))]
    for torque in torques:
        path.append(simulate(known[number], path[-1], torque, functions))
    paths = np.array(path)[:, :, 0]
    for low, high, alpha in ((0.05, 0.95, 0.2), (0.25, 0.75, 0.5)):
        band = np.quantile(paths, [low, high], axis=1)
        axes.fill_between(time, *band, color="#0072B2", alpha=alpha, lw=0, label=f"{high - low:.0%} of the paths")
    axes.plot(time, states[:, 0], "k--", lw=1, label="what came")
    axes.plot(time, readings[:, 0], ".", ms=5, color="#D55E00", label="readings")
    axes.set(xlabel="seconds", title=f"trial {number + 1}", ylim=(-np.pi, 3 * np.pi))
    axes.set_yticks(np.pi * np.arange(-1, 4), ["hangs", "stands", "hangs", "stands", "hangs"])
panels[0].legend(frameon=False, loc="lower left")
