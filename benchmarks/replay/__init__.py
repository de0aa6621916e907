"""Copies against their originals, library by library and version by version: ``python -m benchmarks replay``.

Every kind of model that can be read is asked at 200,000 rows or more: the usual rows and wild ones, splits reached with their
value on the cut and on its float64 and float32 neighbours (a choice of them where splits are many), missing numbers and categories, codes and words that training
never saw. Run in another environment, the command adds the versions that it finds there to the stored results.
"""
