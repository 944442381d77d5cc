"""How requests reach the portal and answers leave it."""
