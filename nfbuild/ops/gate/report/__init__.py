"""The HTML report of `verify`: one page that needs nothing but itself.

`gather` looks frames up and makes pictures of what moved, `page` writes the page, `pack` makes
pictures small. The page's style and script stand beside them as files of their own.
"""
