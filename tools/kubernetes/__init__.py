"""What goes with the manifests in `k8s/`: the secrets that they name, and the checks of what they say."""
