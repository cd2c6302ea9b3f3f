#!/usr/bin/env bash
# Runs a program under Open MPI as if on two hosts with a slow network between them: two network
# namespaces of this machine, joined by a pair of virtual interfaces that a token bucket slows down.
# Both are taken down again, however it ends.
#
#   bench/two_hosts.sh [--ranks-per-host N] [--rate 1gbit] [--itself] PROGRAM [ARGUMENT...]
#
# --itself: the program calls mpirun, as `parajoule train` does; else this script does.
# Ranks of both share this machine's name and memory: PARAJOULE_NODE tells them apart.
set -euo pipefail

refuse() {
  echo "two_hosts.sh: $1" >&2
  exit "${2:-3}"
}

ranks=1
rate=1gbit
mpirun=(mpirun -q)
while [[ ${1:-} == --* ]]; do
  if [[ $1 == --itself ]]; then
    mpirun=()
    shift
    continue
  fi
  [[ $# -ge 2 ]] || refuse "$1: a value is missing" 2
  case $1 in
    --ranks-per-host) ranks=$2 ;;
    --rate) rate=$2 ;;
    *) refuse "$1 is not known: --ranks-per-host N, --rate 1gbit, --itself" 2 ;;
  esac
  shift 2
done
[[ $# -ge 1 ]] || refuse "name a program to run" 2
[[ $(id -u) == 0 ]] || refuse "network namespaces want root"
for tool in ip tc mpirun; do
  command -v "$tool" >/dev/null || refuse "there is no $tool; apt-get install iproute2 openmpi-bin"
done

tag=pj$$
left=$tag-l
right=$tag-r
agent=$(mktemp -t two_hosts.XXXXXX)
hosts=$(mktemp -t two_hosts.XXXXXX)

take_down() {
  ip netns del "$left" 2>/dev/null || true
  ip netns del "$right" 2>/dev/null || true
  rm -f "$agent" "$hosts"
}
trap take_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

ip netns add "$left" 2>/dev/null || refuse "network namespaces cannot be made here: ip netns add failed"
ip netns add "$right"
ip link add "$left" netns "$left" type veth peer name "$right" netns "$right"
for side in "$left 1" "$right 2"; do
  read -r name number <<<"$side"
  ip -n "$name" address add "10.99.0.$number/24" dev "$name"
  ip -n "$name" link set lo up
  ip -n "$name" link set "$name" up
  tc -n "$name" qdisc add dev "$name" root tbf rate "$rate" burst 32kb latency 20ms
done

# In place of ssh: a shell in the other namespace. The first word is the host.
cat >"$agent" <<END
#!/usr/bin/env bash
shift
exec ip netns exec $right env PARAJOULE_NODE=right bash -c "\$*"
END
chmod +x "$agent"

for number in 1 2; do echo "10.99.0.$number slots=$ranks"; done >"$hosts"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=$agent OMPI_MCA_plm_rsh_no_tree_spawn=1
export OMPI_MCA_orte_default_hostfile=$hosts
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self
export OMPI_MCA_btl_tcp_if_include=10.99.0.0/24 OMPI_MCA_oob_tcp_if_include=10.99.0.0/24
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_rmaps_base_oversubscribe=1
export PARAJOULE_NODE=left
ip netns exec "$left" "${mpirun[@]}" "$@"
