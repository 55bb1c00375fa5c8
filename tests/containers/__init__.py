"""The images on a real container engine: how they are made, a platform of them, and its faults."""
