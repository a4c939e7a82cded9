"""The command asterope-report: profile, trial log and bench results as one page with pictures.

Data flows one way: inputs (profile, trial_log, bench) -> pictures and words -> page.
"""
