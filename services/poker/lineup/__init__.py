"""What happens between hands: seats and caves, who is dealt in, button and blinds, sitting out, rests and top-ups."""
