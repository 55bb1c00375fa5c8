"""The phrases that a table shows to people, in the words of the regulation where it has them."""

from feltro.table.v1 import types_pb2

# 804/2015:14, 805/2015:12, 807/2015:16, 812/2015:27
PLACE_YOUR_BETS = types_pb2.LocalizedText(pt="Façam as vossas apostas.", en="Place your bets.")
NO_MORE_BETS = types_pb2.LocalizedText(pt="Jogo feito, nada mais.", en="No more bets.")
NO_MORE_BETS_AND_CARDS = types_pb2.LocalizedText(
    pt="Jogo feito, nada mais, cartas em distribuição.", en="No more bets; cards are being dealt."
)
# 903-B/2015:6.3.3
ROUND_IS_VOID = types_pb2.LocalizedText(
    pt="Ocorreu um erro; a jogada é nula e todas as apostas são devolvidas.",
    en="An error has occurred; the round is void and all bets are returned.",
)
