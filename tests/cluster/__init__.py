"""The platform on a real Kubernetes, as `k8s/overlays/dev` describes it: `make test-cluster`."""
