"""What `k8s/` says, checked without a cluster: `make test-manifests`."""
