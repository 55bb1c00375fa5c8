"""The phrases of the site's pages, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

DEFAULT_LANGUAGE = "pt"
PHRASES: Mapping[str, Mapping[str, str]] = {
    "pt": {
        "other": "en",
        "other_name": "English",
        "login": "Entrar",
        "login_lead": "Escolha um nome e jogue com 100 €.",
        "development": "Plataforma de desenvolvimento: não há palavra-passe, e o dinheiro não é dinheiro."
        " Aqui estaria o site do operador.",
        "name": "Nome",
        "name_hint": "1 a 32 letras sem acentos, algarismos, _ ou -",
        "name_wrong": "Esse nome não serve: 1 a 32 letras sem acentos, algarismos, _ ou -, sem começar por «demo-».",
        "suggested": "Ou como um destes:",
        "as": "Entrar como {name}",
        "cashier": "Caixa",
        "player": "Jogador: {name}",
        "free": "Disponível",
        "locked": "Na mesa",
        "deposit": "Depositar",
        "withdraw": "Levantar",
        "amount": "Quantia em euros",
        "amount_wrong": "Escreva a quantia em euros, por exemplo 12,50.",
        "deposit_done": "Depositou {amount}.",
        "withdrawal_done": "Levantou {amount}.",
        "INSUFFICIENT_FUNDS": "Não há tanto dinheiro disponível.",
        "refused": "A plataforma recusou: {reason}.",
        "unreachable": "A plataforma não responde agora. Tente outra vez dentro de momentos.",
        "back": "Voltar aos jogos",
        "foreign": "Só se volta daqui para {gateway}: abra os jogos por esse endereço.",
    },
    "en": {
        "other": "pt",
        "other_name": "Português",
        "login": "Log in",
        "login_lead": "Choose a name and play with €100.",
        "development": "A development platform: there is no password, and the money is no money."
        " The operator's own site would be here.",
        "name": "Name",
        "name_hint": "1 to 32 letters without accents, digits, _ or -",
        "name_wrong": "No such name: 1 to 32 letters without accents, digits, _ or -, and no “demo-” at the start.",
        "suggested": "Or as one of these:",
        "as": "Log in as {name}",
        "cashier": "Cashier",
        "player": "Player: {name}",
        "free": "Available",
        "locked": "On the table",
        "deposit": "Deposit",
        "withdraw": "Withdraw",
        "amount": "Amount in euros",
        "amount_wrong": "Write the amount in euros, such as 12.50.",
        "deposit_done": "You deposited {amount}.",
        "withdrawal_done": "You withdrew {amount}.",
        "INSUFFICIENT_FUNDS": "There is not so much money available.",
        "refused": "The platform refused: {reason}.",
        "unreachable": "The platform does not answer just now. Try again in a moment.",
        "back": "Back to the games",
        "foreign": "From here one goes back to {gateway} only: open the games at that address.",
    },
}


def euros(cents: int, language: str) -> str:
    """An amount as it is written in that language."""
    whole, rest = divmod(cents, 100)
    if language == "en":
        return f"€{whole:,}.{rest:02}"
    return f"{whole:,}".replace(",", " ") + f",{rest:02} €"
