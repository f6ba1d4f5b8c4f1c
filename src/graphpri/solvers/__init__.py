"""Solvers of the budgeted and of the unbudgeted problem."""
