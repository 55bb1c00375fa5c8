"""A Kubernetes of one node on this machine, from Debian's packages, for where there is no cluster: up and down."""
