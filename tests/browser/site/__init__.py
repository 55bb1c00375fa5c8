"""The lobby, the first visit, languages, rules and what the law wants on every game page."""
