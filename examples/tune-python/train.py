#!/usr/bin/env python3
"""Trains a small classifier and prints its validation loss as JSON.

Started by cocabo it finds its settings in COCABO_PARAMS; by hand they are arguments:
    train.py --optimizer adam --lr 0.1 --epochs 30 --l2 0.001
"""

import argparse
import json
import math
import os
import random


def settings():
    parser = argparse.ArgumentParser()
    parser.add_argument("--optimizer", default="sgd", choices=["sgd", "momentum", "adam"])
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--l2", type=float, default=0.0)
    args = vars(parser.parse_args())
    return {**args, **json.loads(os.environ.get("COCABO_PARAMS", "{}"))}


def points(n, seed):
    """Is a point inside a tilted ellipse? One label in twenty is wrong."""
    chance = random.Random(seed)
    rows = []
    for _ in range(n):
        x, y = chance.uniform(-1, 1), chance.uniform(-1, 1)
        inside = 2 * x * x + 3 * y * y + 2 * x * y < 0.8
        rows.append(((1.0, x, y, x * x, y * y, x * y), inside != (chance.random() < 0.05)))
    return rows


def loss(weights, rows):
    total = 0.0
    for features, label in rows:
        score = sum(w * f for w, f in zip(weights, features))
        total += math.log1p(math.exp(-score if label else score))
    return total / len(rows)


def train(optimizer, lr, epochs, l2, rows):
    weights, first, second, steps = [0.0] * 6, [0.0] * 6, [0.0] * 6, 0
    for _ in range(epochs):
        for features, label in rows:
            score = sum(w * f for w, f in zip(weights, features))
            error = 1 / (1 + math.exp(-score)) - label
            steps += 1
            for i, f in enumerate(features):
                slope = error * f + l2 * weights[i]
                first[i] = 0.9 * first[i] + slope * (0.1 if optimizer == "adam" else 1)
                second[i] = 0.999 * second[i] + 0.001 * slope * slope
                move = {"sgd": slope, "momentum": first[i], "adam": first[i] /
                        (1 - 0.9 ** steps) / (math.sqrt(second[i] / (1 - 0.999 ** steps)) + 1e-8)}
                weights[i] -= lr * move[optimizer]
    return weights


if __name__ == "__main__":
    weights = train(rows=points(200, seed=1), **settings())
    print(json.dumps({"value": loss(weights, points(400, seed=2))}))
