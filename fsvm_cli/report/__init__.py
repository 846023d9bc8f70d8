"""From stored outcomes to tables and figures."""
