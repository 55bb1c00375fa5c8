#!/bin/sh
# Installs a service and what its lock names into /opt/feltro, with a bill of materials: for a stage of the Dockerfile.
set -eu
service=$1
python3 -m venv --without-pip /opt/feltro
install() { /opt/build/bin/pip --python /opt/feltro/bin/python install "$@"; }
install --require-hashes --requirement "locks/$service.txt"
install --no-deps /opt/wheels/feltro-*.whl
/opt/build/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type application --output-reproducible \
  --output-file /opt/feltro/sbom.cdx.json /opt/feltro/bin/python
