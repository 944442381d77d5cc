"""Who uses the portal: users, sessions, logins, and what they did."""
