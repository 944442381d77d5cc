"""The load and state of running tables: watched, stored, drawn, and told in alerts."""
