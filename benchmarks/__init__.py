"""Studies that decide something or back a figure in a README; run by hand, results committed."""
