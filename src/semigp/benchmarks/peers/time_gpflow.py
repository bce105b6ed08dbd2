"""One bound with its full gradient by GPflow's BayesianGPLVM, compiled by TensorFlow (without XLA)."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import gpflow
import numpy as np
import tensorflow as tf
from common import main, make_problem, repeat, timed


def measure(n, q, p, m):
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    y, mean, variance, inducing = make_problem(n, q, p, m)
    kernel = gpflow.kernels.SquaredExponential(lengthscales=np.sqrt(q) * np.ones(q))
    model = gpflow.models.BayesianGPLVM(y, mean, variance, kernel, inducing_variable=inducing)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = model.training_loss()
        return loss, tape.gradient(loss, model.trainable_variables)

    bound = -float(step()[0])
    versions = {"GPflow": gpflow.__version__, "tensorflow": tf.__version__}
    return {"times": repeat(lambda _: timed(lambda: step()[0].numpy())), "bound": bound, "versions": versions}


if __name__ == "__main__":
    main(measure)
