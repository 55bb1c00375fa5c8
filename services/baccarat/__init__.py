"""Baccarat: *ponto e banca* and its Macau variant, by regulation 812/2015."""
