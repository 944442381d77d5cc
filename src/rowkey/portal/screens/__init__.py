"""The screens of the portal: one file each, with its routes in `ROUTES`."""
