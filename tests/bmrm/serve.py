#!/usr/bin/env python3
"""Predictions of a model of bmrm, computed from its file: compared with the answers of bmrm -serve.

    serve.py <model> <LIBSVM file> <answers with scores and probabilities>
"""
import sys
from math import exp, hypot


def read_model(file):
    lines = iter(open(file, encoding="utf-8").read().split("\n"))
    model = {"classes": [], "shift": [], "weights": {}, "offset": 0.0, "unit": False}
    for line in lines:
        key, *words = line.split(" ")
        if key == "classes":
            for _ in range(int(words[0])):
                label, shift = next(lines).split()
                model["classes"].append(label)
                model["shift"].append(float(shift))
        elif key == "labels":
            model["labels"] = words
        elif key == "rows":
            model["unit"] = True
        elif key in ("offset", "temperature"):
            model[key] = float(words[0])
        elif key == "platt":
            model["platt"] = [float(w) for w in words]
        elif key == "weights":
            for _ in range(int(words[0])):
                *place, value = next(lines).split()
                model["weights"][tuple(map(int, place))] = float(value)
    return model


def predict(model, line):
    x = {int(k): float(v) for k, v in (item.split(":") for item in line.split("#")[0].split()[1:])}
    norm = hypot(*x.values()) if model["unit"] and x else 1
    if model["classes"]:
        scores = [s + sum(v / norm * model["weights"].get((j, c + 1), 0) for j, v in x.items()) for c, s in enumerate(model["shift"])]
        e = [exp((s - max(scores)) / model.get("temperature", 1)) for s in scores]
        return model["classes"][scores.index(max(scores))], scores + [v / sum(e) for v in e]
    score = model["offset"] + sum(v / norm * model["weights"].get((j,), 0) for j, v in x.items())
    a, b = model.get("platt", (-1, 0))
    return model["labels"][score >= 0], [score, 1 / (1 + exp(a * score + b))]


if __name__ == "__main__":
    the_model = read_model(sys.argv[1])
    questions, answers = (open(f, encoding="utf-8").read().splitlines() for f in sys.argv[2:])
    assert len(questions) == len(answers) > 0, f"{len(questions)} lines, {len(answers)} answers"
    for question, answer in zip(questions, answers):
        label, numbers = predict(the_model, question)
        words = answer.split(" ")
        assert float(words[0]) == float(label), f"{question}: answered {words[0]}, expected {label}"
        for word, number in zip(words[1:], numbers, strict=True):
            assert abs(float(word) - number) < 1e-12 * max(1, abs(number)), f"{question}: answered {word}, expected {number}"
