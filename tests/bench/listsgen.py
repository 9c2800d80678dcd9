#!/usr/bin/env python3
"""Write generated examples for losses that compare them: a hidden direction and noise give the labels.

    tests/bench/listsgen.py rocarea ROWS FILE        PETSc's binary format, 20,000 features, 16 a row, one in ten is positive
    tests/bench/listsgen.py preference ROWS FILE     LIBSVM text with queries of ten, 2,000 features, 8 a row, five labels
"""
import sys

import numpy


def main(kind, rows, file):
    m = int(rows)
    random = numpy.random.default_rng(5)
    each, width = (16, 1250) if kind == 'rocarea' else (8, 250)
    columns = (numpy.arange(each) * width + random.integers(0, width, (m, each))).astype(numpy.int32)
    values = random.integers(1, 1000, (m, each)) / 1000
    score = (random.standard_normal(each * width)[columns] * values).sum(1) + random.standard_normal(m)
    if kind == 'rocarea':
        with open(file, 'wb') as stream:
            numpy.array([1211216, m, each * width, m * each], '>i4').tofile(stream)
            numpy.full(m, each, '>i4').tofile(stream)
            columns.astype('>i4').tofile(stream)
            values.astype('>f8').tofile(stream)
            numpy.array([1211214, m], '>i4').tofile(stream)
            numpy.where(score > numpy.quantile(score, 0.9), 1.0, -1.0).astype('>f8').tofile(stream)
        return
    labels = numpy.searchsorted(numpy.quantile(score, [0.5, 0.75, 0.9, 0.97]), score)
    column, thousandths = (columns + 1).tolist(), (values * 1000).astype(int).tolist()
    with open(file, 'w') as stream:
        for i in range(m):
            stream.write('%d qid:%d %s\n' % (labels[i], i // 10 + 1, ' '.join('%d:0.%03d' % entry for entry in zip(column[i], thousandths[i]))))


if __name__ == '__main__':
    main(*sys.argv[1:])
