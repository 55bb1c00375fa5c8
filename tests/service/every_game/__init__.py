"""The rules that every game with cards keeps in the same way, proved for each of them on one platform."""
