"""Findings and changes -> text, diff, JSON, SARIF, GitHub annotations, Markdown, HTML.

One module for each form; none of them reads files or decides anything.
"""
