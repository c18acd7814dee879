"""A rule-based stand-in for a judge. **It is not a language model**: no key, no network, no weights, no opinions.

It reads the instruction out of a judge's prompt, finds the demands in it that a rule can check (so many words, valid
JSON, sorted, in lower case, the right sum ...), counts how many of them each response meets, and answers in the format
that the prompt asks for. What no rule can check (truth, style, helpfulness) it does not see. Use it to try podium, to
test a set-up, and to see what position bias does to a ranking; never to judge models.
"""
