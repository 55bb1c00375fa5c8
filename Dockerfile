# The images of the platform, a target for each: `make images`, or `docker build --target wallet .` (docs/containers.md).

# What the images are based on: Debian's Python, or another with glibc and Python 3.11 or newer.
ARG BASE_IMAGE=python:3.13-slim
# What they are built on, if it has to know what must not be in them: an authority behind a proxy, pip's settings.
ARG BUILD_IMAGE=${BASE_IMAGE}

FROM ${BUILD_IMAGE} AS build
# Where packages come from, if not from the public registries: pip and npm read these.
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_CERT
ARG npm_config_registry
ARG NODE_EXTRA_CA_CERTS
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /source
COPY locks/images.txt locks/
RUN python3 -m venv /opt/build && /opt/build/bin/pip install --require-hashes --requirement locks/images.txt
COPY LICENSE README.md hatch_build.py pyproject.toml ./
COPY protos protos
COPY services services
COPY gateway gateway
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /opt/wheels .
COPY tools/install_image.sh tools/

# What all images have in common. Nothing in them is written to: they run with a read-only root file system.
FROM ${BASE_IMAGE} AS runtime
RUN groupadd --gid 10001 feltro \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin feltro \
  && rm -rf /usr/local/bin/pip* /usr/local/lib/python3.*/site-packages/pip* /usr/local/lib/python3.*/ensurepip
ENV PATH=/opt/feltro/bin:${PATH} PYTHONDONTWRITEBYTECODE=1
WORKDIR /
USER 10001:10001
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.vendor="Feltro" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"

FROM build AS wallet-files
COPY locks/wallet.txt locks/
RUN tools/install_image.sh wallet
FROM runtime AS wallet
COPY --from=wallet-files /opt/feltro /opt/feltro
LABEL org.opencontainers.image.title="feltro-wallet"
ENV FELTRO_WALLET_LISTEN=0.0.0.0:8710 FELTRO_WALLET_METRICS_LISTEN=0.0.0.0:8711
EXPOSE 8710 8711
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["feltro", "health", "wallet"]
CMD ["python", "-m", "services.wallet"]

FROM build AS roulette-files
COPY locks/roulette.txt locks/
RUN tools/install_image.sh roulette
FROM runtime AS roulette
COPY --from=roulette-files /opt/feltro /opt/feltro
LABEL org.opencontainers.image.title="feltro-roulette"
ENV FELTRO_ROULETTE_LISTEN=0.0.0.0:8740 FELTRO_ROULETTE_METRICS_LISTEN=0.0.0.0:8741
EXPOSE 8740 8741
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["feltro", "health", "roulette"]
CMD ["python", "-m", "services.roulette"]

FROM build AS baccarat-files
COPY locks/baccarat.txt locks/
RUN tools/install_image.sh baccarat
FROM runtime AS baccarat
COPY --from=baccarat-files /opt/feltro /opt/feltro
LABEL org.opencontainers.image.title="feltro-baccarat"
ENV FELTRO_BACCARAT_LISTEN=0.0.0.0:8750 FELTRO_BACCARAT_METRICS_LISTEN=0.0.0.0:8751
EXPOSE 8750 8751
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["feltro", "health", "baccarat"]
CMD ["python", "-m", "services.baccarat"]

FROM build AS blackjack-files
COPY locks/blackjack.txt locks/
RUN tools/install_image.sh blackjack
FROM runtime AS blackjack
COPY --from=blackjack-files /opt/feltro /opt/feltro
LABEL org.opencontainers.image.title="feltro-blackjack"
ENV FELTRO_BLACKJACK_LISTEN=0.0.0.0:8760 FELTRO_BLACKJACK_METRICS_LISTEN=0.0.0.0:8761
EXPOSE 8760 8761
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["feltro", "health", "blackjack"]
CMD ["python", "-m", "services.blackjack"]

FROM build AS poker-files
COPY locks/poker.txt locks/
RUN tools/install_image.sh poker
FROM runtime AS poker
COPY --from=poker-files /opt/feltro /opt/feltro
LABEL org.opencontainers.image.title="feltro-poker"
ENV FELTRO_POKER_LISTEN=0.0.0.0:8770 FELTRO_POKER_METRICS_LISTEN=0.0.0.0:8771
EXPOSE 8770 8771
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["feltro", "health", "poker"]
CMD ["python", "-m", "services.poker"]

# The pages that the gateway serves.
FROM build AS front-end
COPY tools/web.py tools/
COPY web web
RUN PYTHONPATH=build/gen /opt/build/bin/python -m tools.web \
  && /opt/build/bin/npm --prefix web sbom --sbom-format cyclonedx --omit dev > build/web-sbom.cdx.json

FROM build AS gateway-files
COPY locks/gateway.txt locks/
RUN tools/install_image.sh gateway
FROM runtime AS gateway
COPY --from=gateway-files /opt/feltro /opt/feltro
COPY --from=front-end /source/build/web /opt/feltro/web
COPY --from=front-end /source/build/web-sbom.cdx.json /opt/feltro/
LABEL org.opencontainers.image.title="feltro-gateway"
ENV FELTRO_GATEWAY_LISTEN=0.0.0.0:8700 FELTRO_GATEWAY_METRICS_LISTEN=0.0.0.0:8701 FELTRO_WEB_FOLDER=/opt/feltro/web
EXPOSE 8700 8701
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["feltro", "health", "gateway", "--http"]
CMD ["python", "-m", "gateway"]

# The development stack, for compose.yaml: it makes secrets, signs tokens for everybody and stands for an operator's site.
FROM gateway AS development
COPY stack /opt/feltro/development/stack
LABEL org.opencontainers.image.title="feltro-development"
ENV PYTHONPATH=/opt/feltro/development FELTRO_DATA=/data FELTRO_OPERATOR_SITE_LISTEN=0.0.0.0:8702
EXPOSE 8702
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["feltro", "health", "operator_site", "--http"]
CMD ["python", "-m", "stack.operator_site"]
