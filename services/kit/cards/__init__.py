"""Playing cards: what a card is, packs, and shoes whose order is fixed before the first card is dealt."""
