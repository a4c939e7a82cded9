"""The command asterope-report: profile, sample log and bench results as one page with pictures.

Data flows one way: inputs (profile, sample_log, bench) -> series -> pictures and words -> page.
"""
