"""Types of fields: what they share, before the drawer `fields` names each."""
