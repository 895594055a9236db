"""The folder of the data that are not part of the project."""

import os
from pathlib import Path


def data_folder(content, files, data=None):
    """The folder of data, by default from the environment variable BNMTL_DATA.

    Parameters
    ----------
    content : str
        Description of the data, for the message.
    files : iterable of path
        Files that must be in the folder.
    data : path, default=None

    Raises
    ------
    ValueError
        If no folder is given or a file is missing.
    """
    where = f"`--data` or the environment variable BNMTL_DATA must name the folder with {content}"
    data = data or os.environ.get("BNMTL_DATA")
    if not data:
        raise ValueError(f"{where}; neither is given.")
    for file in files:
        if not Path(data, file).is_file():
            raise ValueError(f"{where}; there is no {file} in `{data}`.")
    return Path(data)
