"""The checks of a ranking and of a judge, a file per subject; `all_checks` lists all of them."""
