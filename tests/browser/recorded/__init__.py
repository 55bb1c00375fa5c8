"""What the screen alone decides, on recorded answers: layout, words, keyboard and colours, without a platform."""
