"""Starts and ends the node: `python -m tests.cluster.one_node.node up|down`; root on Debian only.

Everything is below `build/cluster` and in a network namespace of its own; the commands of Kubernetes are below
KUBERNETES_FOLDER, if it is set. `down` ends what `up` started, and nothing else, and puts back the settings of the
kernel that the kubelet changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.cluster.one_node import certificates

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
MADE = ROOT / "build" / "cluster"
# What takes minutes to build, and is the same for every working copy.
KUBERNETES = Path(os.environ.get("KUBERNETES_FOLDER", MADE)).absolute()
BIN = KUBERNETES / "bin"
RUN = MADE / "run"
KEYS = RUN / "keys"
KUBECONFIG = KEYS / "admin.kubeconfig"
NAMESPACE = "feltro-cluster"
ADDRESS, SERVICE_ADDRESS, SERVICES, PODS = "10.240.0.1", "10.96.0.1", "10.96.0.0/16", "10.244.0.0/24"
# Where the controller manager makes volumes; it cannot be told another place.
VOLUMES = Path("/tmp/hostpath_pv")  # noqa: S108
# Kubelet and network plugins leave files here, whatever folders they were given.
LEFT_BEHIND = ("/var/log/pods", "/var/log/containers", "/var/lib/kubelet", "/var/lib/cni")
PAUSE_IMAGE = "localhost/feltro-pause:1"
PACKAGES = ("docker.io", "containernetworking-plugins", "iptables", "dnsmasq-base", "conntrack", "iproute2")
COMMANDS = ("containerd", "ctr", "runc", "iptables", "dnsmasq", "conntrack", "ip", "docker")
PLUGINS = Path("/usr/lib/cni")
# What the kubelet sets to values of its own.
KERNEL_SETTINGS = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)
READY_WITHIN_S = 120.0
# How long one command about a container may take: a runtime that hangs is killed.
CONTAINER_WITHIN_S = 30.0


class NodeFailed(Exception):
    """The node did not come up; the message says what did not."""


def in_network(command: Sequence[str]) -> list[str]:
    """Returns a command that runs in the network of the node; `ip netns exec` would hide the control groups."""
    return ["nsenter", f"--net=/run/netns/{NAMESPACE}", *command]


def up(images: Sequence[str]) -> None:
    """Builds what is missing and starts the node, with these images of the local container engine on it."""
    down()
    _install_packages()
    subprocess.run([str(HERE / "build.sh"), str(KUBERNETES)], env={**os.environ, "PYTHON": sys.executable}, check=True)
    RUN.mkdir(parents=True)
    kernel = {name: Path("/proc/sys", name).read_text().strip() for name in KERNEL_SETTINGS}
    (RUN / "kernel.json").write_text(json.dumps(kernel))
    (RUN / "networks.json").write_text(json.dumps(sorted(_pod_networks())))
    (RUN / "new.json").write_text(json.dumps([path for path in LEFT_BEHIND if not Path(path).exists()]))
    _make_network()
    certificates.make(KEYS, ADDRESS, SERVICE_ADDRESS)
    _write_configurations()
    _start("containerd", ["containerd", "--config", str(RUN / "containerd.toml")])
    _start("etcd", _etcd())
    _start("apiserver", _apiserver())
    _wait("the API server", lambda: _answers(_kubectl("get", "--raw", "/readyz")))
    _start("controller-manager", _controller_manager(), umask=0)
    _start("scheduler", _scheduler())
    _start("kubelet", _kubelet())
    _start("proxy", _proxy())
    _start("names", _names())
    _wait("containerd", lambda: _answers(_ctr("version")))
    _load(images)
    _wait("the node", lambda: "True" in _output(_kubectl("get", "node", "node1", "-o", _READY)))
    subprocess.run(_kubectl("apply", "-f", "-"), input=_STORAGE, text=True, check=True, stdout=subprocess.DEVNULL)


def down() -> None:
    """Ends what a start has left, whole or not."""
    for name in ("names", "kubelet", "proxy", "scheduler", "controller-manager", "apiserver", "etcd"):
        _end(name)
    _remove_containers()
    _end("containerd")
    for pid in _pids_of_shims():
        os.kill(pid, signal.SIGKILL)
    _unmount()
    if (RUN / "networks.json").is_file():
        for network in _pod_networks() - set(json.loads((RUN / "networks.json").read_text())):
            subprocess.run(["ip", "netns", "del", network], check=False)
    if Path("/run/netns", NAMESPACE).exists():
        subprocess.run(["ip", "netns", "del", NAMESPACE], check=False)
    for folder in Path("/sys/fs/cgroup").glob("*/kubepods"):
        subprocess.run(
            ["find", str(folder), "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"], capture_output=True, check=False
        )
    _put_back()
    shutil.rmtree(RUN, ignore_errors=True)


def _put_back() -> None:
    """Sets the kernel as it was, and removes the folders that were made elsewhere."""
    kernel, new = RUN / "kernel.json", RUN / "new.json"
    if kernel.is_file():
        for name, value in json.loads(kernel.read_text()).items():
            Path("/proc/sys", name).write_text(value)
        shutil.rmtree(VOLUMES, ignore_errors=True)
    if new.is_file():
        for path in json.loads(new.read_text()):
            shutil.rmtree(path, ignore_errors=True)


def _pod_networks() -> set[str]:
    """The network namespaces of pods, those of other clusters on this machine among them."""
    return {path.name for path in Path("/run/netns").glob("cni-*")}


def _remove_containers() -> None:
    if not _is_running("containerd"):
        return
    for kind, force in (("task", ["--force"]), ("container", [])):
        for found in _output(_ctr("--namespace", "k8s.io", kind, "ls", "--quiet")).split():
            remove = _ctr("--namespace", "k8s.io", kind, "rm", *force, found)
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(remove, capture_output=True, check=False, timeout=CONTAINER_WITHIN_S)


def _install_packages() -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise NodeFailed("Only root on Debian can make a cluster here: name one with KUBECONFIG.")
    if all(shutil.which(command) for command in COMMANDS) and PLUGINS.is_dir():
        return
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "-qq", "update"], env=quiet, check=True)
    install = ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *PACKAGES]
    subprocess.run(install, env=quiet, check=True, stdout=subprocess.DEVNULL)


def _make_network() -> None:
    inside = ["ip", "-n", NAMESPACE]
    for command in (
        ["ip", "netns", "add", NAMESPACE],
        [*inside, "link", "set", "lo", "up"],
        [*inside, "link", "add", "node0", "type", "veth", "peer", "name", "node1"],
        [*inside, "link", "set", "node1", "up"],
        [*inside, "addr", "add", f"{ADDRESS}/24", "dev", "node0"],
        [*inside, "link", "set", "node0", "up"],
        [*inside, "route", "add", "default", "via", "10.240.0.254", "dev", "node0"],
        in_network(["sysctl", "-qw", "net.ipv4.ip_forward=1"]),
    ):
        subprocess.run(command, check=True)


def _write_configurations() -> None:
    (RUN / "resolv.conf").touch()
    (RUN / "cni").mkdir()
    ranges = {
        "type": "host-local",
        "ranges": [[{"subnet": PODS}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dataDir": str(RUN / "addresses"),
    }
    bridge = {
        "type": "bridge",
        "bridge": "pods0",
        "isGateway": True,
        "ipMasq": True,
        "hairpinMode": True,
        "ipam": ranges,
    }
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    network = {"cniVersion": "0.4.0", "name": NAMESPACE, "plugins": [bridge, ports]}
    (RUN / "cni" / "10-pods.conflist").write_text(json.dumps(network))
    (RUN / "containerd.toml").write_text(_CONTAINERD)
    kubelet = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": ADDRESS,
        "healthzBindAddress": "127.0.0.1",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": "/",
        "failSwapOn": False,
        "clusterDNS": [ADDRESS],
        "clusterDomain": "cluster.local",
        "resolvConf": str(RUN / "resolv.conf"),
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(KEYS / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        # The disk of a machine that others share says nothing about the node.
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "enforceNodeAllocatable": [],
        # All pods of the platform are on this one node: it reports their state without delay.
        "kubeAPIQPS": 50,
        "kubeAPIBurst": 100,
        "eventRecordQPS": 0,
        "oomScoreAdj": 0,
    }
    (RUN / "kubelet.json").write_text(json.dumps(kubelet))


def _load(images: Sequence[str]) -> None:
    pause = 'FROM scratch\nCOPY pause /pause\nUSER 65535:65535\nENTRYPOINT ["/pause"]\n'
    (RUN / "pause").mkdir()
    (RUN / "pause" / "Dockerfile").write_text(pause)
    shutil.copy(BIN / "pause", RUN / "pause" / "pause")
    subprocess.run(
        ["docker", "build", "-q", "-t", PAUSE_IMAGE, str(RUN / "pause")],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    load = _ctr("--namespace", "k8s.io", "images", "import", "-")
    with subprocess.Popen(["docker", "save", PAUSE_IMAGE, *images], stdout=subprocess.PIPE) as saving:
        subprocess.run(load, stdin=saving.stdout, check=True, stdout=subprocess.DEVNULL)
    if saving.returncode:
        raise NodeFailed(f"the container engine does not give its images: {', '.join(images)}")


def _start(name: str, command: Sequence[str], umask: int = 0o022) -> None:
    with (RUN / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            in_network(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=ROOT,
            start_new_session=True,
            umask=umask,
        )
    (RUN / f"{name}.pid").write_text(f"{process.pid} {_started(process.pid)}")


def _end(name: str) -> None:
    """Ends a process of ours with its children; a number that another process has by now is left alone."""
    if not _is_running(name):
        return
    pid = int((RUN / f"{name}.pid").read_text().split()[0])
    os.killpg(pid, signal.SIGTERM)
    deadline = time.monotonic() + 10
    while _is_running(name) and time.monotonic() < deadline:
        time.sleep(0.1)
    if _is_running(name):
        os.killpg(pid, signal.SIGKILL)


def _is_running(name: str) -> bool:
    file = RUN / f"{name}.pid"
    if not file.is_file():
        return False
    pid, _, started = file.read_text().partition(" ")
    return _started(int(pid)) == started


def _started(pid: int) -> str:
    """When a process started, in the kernel's own count; empty if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def _pids_of_shims() -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_bytes()
        except OSError:
            continue
        if b"containerd-shim-runc-v2" in command and str(RUN).encode() in command:
            found.append(int(entry.parent.name))
    return found


def _unmount() -> None:
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for place in sorted((each for each in mounts if each.startswith(str(RUN))), reverse=True):
        subprocess.run(["umount", "--lazy", place], check=False)


def _wait(what: str, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while not is_so():
        if time.monotonic() > deadline:
            raise NodeFailed(f"{what} was not ready within {READY_WITHIN_S:.0f} s; its log is in {RUN}")
        time.sleep(0.25)


def _answers(command: Sequence[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _ctr(*arguments: str) -> list[str]:
    return ["ctr", "--address", str(RUN / "containerd.sock"), *arguments]


def _kubectl(*arguments: str) -> list[str]:
    return in_network([str(BIN / "kubectl"), "--kubeconfig", str(KUBECONFIG), *arguments])


def _etcd() -> list[str]:
    client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
    urls = ["--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer]
    return [str(BIN / "etcd"), "--data-dir", str(RUN / "etcd"), *urls, "--unsafe-no-fsync"]


def _apiserver() -> list[str]:
    return [
        str(BIN / "kube-apiserver"),
        "--etcd-servers=http://127.0.0.1:2379",
        f"--bind-address={ADDRESS}",
        f"--advertise-address={ADDRESS}",
        "--secure-port=6443",
        "--insecure-port=0",
        f"--service-cluster-ip-range={SERVICES}",
        f"--tls-cert-file={KEYS}/apiserver.crt",
        f"--tls-private-key-file={KEYS}/apiserver.key",
        f"--client-ca-file={KEYS}/ca.crt",
        f"--kubelet-client-certificate={KEYS}/kubelet-client.crt",
        f"--kubelet-client-key={KEYS}/kubelet-client.key",
        "--kubelet-preferred-address-types=InternalIP",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={KEYS}/accounts.pub",
        f"--service-account-signing-key-file={KEYS}/accounts.key",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--cert-dir={RUN}",
    ]


def _controller_manager() -> list[str]:
    return [
        str(BIN / "kube-controller-manager"),
        *_as_part("controller-manager"),
        "--authentication-kubeconfig=" + str(KEYS / "controller-manager.kubeconfig"),
        "--authorization-kubeconfig=" + str(KEYS / "controller-manager.kubeconfig"),
        f"--service-account-private-key-file={KEYS}/accounts.key",
        f"--root-ca-file={KEYS}/ca.crt",
        "--use-service-account-credentials=true",
        "--enable-hostpath-provisioner=true",
        "--bind-address=127.0.0.1",
        "--port=0",
        "--leader-elect=false",
        f"--cert-dir={RUN}",
    ]


def _scheduler() -> list[str]:
    part = [str(BIN / "kube-scheduler"), *_as_part("scheduler")]
    return [*part, "--bind-address=127.0.0.1", "--port=0", "--leader-elect=false", f"--cert-dir={RUN}"]


def _kubelet() -> list[str]:
    return [
        str(BIN / "kubelet"),
        *_as_part("node"),
        f"--config={RUN}/kubelet.json",
        "--hostname-override=node1",
        f"--node-ip={ADDRESS}",
        "--container-runtime=remote",
        f"--container-runtime-endpoint=unix://{RUN}/containerd.sock",
        f"--root-dir={RUN}/kubelet",
        f"--cert-dir={RUN}/kubelet-keys",
        f"--volume-plugin-dir={RUN}/plugins",
    ]


def _proxy() -> list[str]:
    part = [str(BIN / "kube-proxy"), *_as_part("proxy"), "--hostname-override=node1", "--proxy-mode=iptables"]
    addresses = ["--metrics-bind-address=127.0.0.1:10249", "--healthz-bind-address=127.0.0.1:10256"]
    return [*part, "--cluster-cidr=10.244.0.0/16", "--oom-score-adj=0", "--conntrack-max-per-core=0", *addresses]


def _names() -> list[str]:
    arguments = [str(BIN / "kubectl"), str(KUBECONFIG), str(RUN / "names"), ADDRESS, str(VOLUMES)]
    return [sys.executable, "-m", "tests.cluster.one_node.names", *arguments]


def _as_part(part: str) -> list[str]:
    return [f"--kubeconfig={KEYS}/{part}.kubeconfig"]


_READY = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
_STORAGE = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: kubernetes.io/host-path
"""
# Negative scores of the out-of-memory killer need a right that a container of CI has not.
_CONTAINERD = f"""
version = 2
root = "{RUN}/containerd/root"
state = "{RUN}/containerd/state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "{RUN}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "{PAUSE_IMAGE}"
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{PLUGINS}"
    conf_dir = "{RUN}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
"""


def main(arguments: list[str]) -> int:
    """Starts the node with the images that are named, or ends it."""
    command, *images = arguments
    try:
        up(images) if command == "up" else down()
    except (NodeFailed, subprocess.CalledProcessError) as failed:
        print(f"The cluster of one node: {failed}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
