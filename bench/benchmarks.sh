# Owns how each benchmark is built and run; `bench/run` and `bench/against` read it.
#
# `build NAME TREE OUT` puts the programs of a benchmark into OUT, with the product as it is in TREE. `run_in OUT NAME` runs
# it. Both are called in the folder `bench`.

names=(decode host sessions permission agent bridge)

is_known() {
  printf '%s\n' "${names[@]}" | grep -qxF -- "$1"
}

# What links the product is built with it; what starts the product's program is the same for every tree.
build() {
  local name=$1 tree=$2 out=$3 programs
  case "$name" in
  decode | host | sessions)
    programs=(towline-bench claude)
    release "$tree/bench/Cargo.toml"
    ;;
  permission)
    programs=(towline-bench-permission)
    release "$tree/bench/Cargo.toml" -p towline-bench-permission
    ;;
  agent)
    programs=(towline-bench-agent)
    release Cargo.toml -p towline-bench-agent
    ;;
  bridge)
    programs=(towline-bench-bridge towline-bench-bridge-agent)
    release Cargo.toml -p towline-bench-bridge
    ;;
  esac
  mkdir -p "$out"
  (cd target/release && cp -- "${programs[@]}" "$out")
  if [ "$name" = agent ] || [ "$name" = bridge ]; then
    release "$tree/Cargo.toml" -p towline
    cp target/release/towline "$out"
  fi
}

# Into one folder whatever the tree, so that what the trees share is built once.
release() {
  local manifest=$1
  shift
  cargo build --release ${locked-} --target-dir target --manifest-path "$manifest" "$@"
}

# Two builds, not one: see default-members in Cargo.toml.
make_corpus() {
  mkdir -p target
  cargo run --release --locked --quiet -p towline-bench-corpus -- \
    ../crates/towline-protocol/tests/data/traces target "${BENCH_MB:-100}"
}

# What a run needs besides its programs.
prepare() {
  case "$1" in
  decode | host | sessions) make_corpus ;;
  bridge)
    peer=${SANDBOX_AGENT:-$(../.ci/fetch-sandbox-agent)}
    # Three pipes an agent and two viewers a session; what is inherited counts for the servers.
    ulimit -n "$(ulimit -Hn)"
    ;;
  esac
}

run_in() {
  local out=$1
  case "$2" in
  decode) "$out/towline-bench" decode target/corpus.ndjson target/traces.ndjson peers ;;
  host) "$out/towline-bench" host target/corpus.ndjson "$out/claude" ;;
  sessions) "$out/towline-bench" sessions target/corpus.ndjson "$out/claude" ;;
  permission) "$out/towline-bench-permission" ;;
  agent) "$out/towline-bench-agent" "$out/towline" ;;
  bridge) "$out/towline-bench-bridge" "$out/towline" "$peer" "$out/towline-bench-bridge-agent" ;;
  esac
}
