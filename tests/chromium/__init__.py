"""A real Chromium for the tests of pages: started once, watched for errors and for requests."""

from chromium.pages import (
    list_contrast_violations,
    list_cut_off,
    list_violations,
    watch_page,
)

__all__ = ["list_contrast_violations", "list_cut_off", "list_violations", "watch_page"]
