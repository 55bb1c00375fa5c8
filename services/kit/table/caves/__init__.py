"""Tables whose players bring caves: buying in between hands, a hand as one transfer, and cashing out."""
