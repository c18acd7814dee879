"""Write the answer of a ranking: who leads, whether to trust that, and what to do next.

An answer has at most three sentences.
"""
