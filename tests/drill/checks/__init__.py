"""What has to hold after a drill: pure functions over what was recorded, and what each of them found."""
