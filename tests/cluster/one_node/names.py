"""Answers the names of Services in the cluster, as CoreDNS does elsewhere: keeps dnsmasq's file equal to the API.

`python -m tests.cluster.one_node.names KUBECTL KUBECONFIG FOLDER ADDRESS VOLUMES`. It also opens the folders of new
volumes, because the provisioner of a single node knows nothing of the groups that pods ask for.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOMAIN = "svc.cluster.local"
INTERVAL_S = 0.5


def main(arguments: list[str]) -> None:
    """Runs until it is ended."""
    kubectl, kubeconfig, folder, address, volumes = arguments
    ask = [kubectl, "--kubeconfig", kubeconfig, "get", "services,endpoints", "-A", "-o", "json"]
    file = Path(folder, "hosts")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    server = subprocess.Popen(
        [
            *("dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root"),
            *(f"--addn-hosts={file}", "--local=/cluster.local/", f"--listen-address={address}", "--bind-interfaces"),
            "--pid-file=",
        ]
    )
    while server.poll() is None:
        answer = subprocess.run(ask, capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            text = "\n".join(sorted(rows(json.loads(answer.stdout)["items"]))) + "\n"
            if text != file.read_text():
                file.write_text(text)
                server.send_signal(signal.SIGHUP)
        for volume in Path(volumes).glob("*"):
            volume.chmod(0o777)
            volume.parent.chmod(0o755)
        time.sleep(INTERVAL_S)


def rows(objects: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each name: of a Service its address, of a headless one those of its pods."""
    for each in objects:
        metadata = each["metadata"]
        name = f"{metadata['name']}.{metadata['namespace']}.{DOMAIN}"
        if each["kind"] == "Service" and each["spec"].get("clusterIP", "None") != "None":
            yield f"{each['spec']['clusterIP']} {name}"
        if each["kind"] == "Endpoints" and "service.kubernetes.io/headless" in metadata.get("labels", {}):
            for subset in each.get("subsets") or []:
                for address in subset.get("addresses") or []:
                    host = address.get("hostname")
                    yield f"{address['ip']} {name}" + (f" {host}.{name}" if host else "")


if __name__ == "__main__":
    main(sys.argv[1:])
