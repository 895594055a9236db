"""The command `bnmtl`: one module per command, and modules shared by all commands.

The module of a command has two functions. `run(options, progress=None)` checks the input, does the
work, and writes the folder or the file of one run. `options` is of the class of the command in
`bnmtl.cli.options`; `progress` is called with every `bnmtl.progress.ProgressEvent` (`predict` and
`calibrate` are too fast to have it). If the options or the data are invalid, `run` raises a
ValueError or a TypeError, and nothing is written. It returns the `Result` of the module, which has
at least `warnings`, in terms of the command line.

`summary(result)` yields what is printed about it: lines of text, and each `bnmtl.cli.runs.Table`.
"""
