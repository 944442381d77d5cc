"""Links to pages of the portal."""

from urllib.parse import quote


def build_path(*steps: str, query: str = "") -> str:
    """Return the path of a page of the portal, with its steps quoted.

    >>> build_path("designs", "a/b?.toml", query="saved=1"), build_path()
    ('/designs/a%2Fb%3F.toml?saved=1', '/')
    """
    path = "/" + "/".join(quote(step, safe="") for step in steps)
    return f"{path}?{query}" if query else path
