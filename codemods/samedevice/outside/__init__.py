"""The one place from which other programs are started: Python, git and what the system offers.

What is started here runs nothing of the folder it is started in, and nothing that settings of a
repository name. The program of a user, which `prove` and a batch's proofs start on purpose, is not
started from here.
"""
