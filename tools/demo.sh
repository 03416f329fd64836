#!/usr/bin/env bash
# Sets up, builds jitc, and shows each step from a spec to a running kernel.
#
#   TMAJIT_DEMO_ROWS=N   the kernel computes an f32 matrix of N x 16384 on a GPU (default 16384: 1 GiB)
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$ROOT/tools/lib/build.sh"

if (($#)); then
  sed -nE '2,$s/^# ?//p' "${BASH_SOURCE[0]}" | sed -n '1,3p'
  case $1 in -h | --help) exit 0 ;; *) exit 2 ;; esac
fi

"$ROOT/tools/setup.sh"
heading "Build"
build_preset release jitc || die "the build failed"

WORK=$ROOT/build/demo
PATH=$ROOT/build/release/bin:$PATH
export TMAJIT_CACHE_DIR=$WORK/cache # an empty cache, so that the first compile really compiles
mkdir -p "$WORK"
rm -rf "$TMAJIT_CACHE_DIR"
cd "$WORK"

indented() { sed -u 's/^/    /; s/\t/  /g'; }

# quoted WORD…: the words as one would type them in a shell.
quoted() {
  local word line=''
  for word in "$@"; do
    [[ $word =~ ^[A-Za-z0-9_./:=,-]+$ ]] || word="'$word'"
    line+="$word "
  done
  printf '%s' "${line% }"
}

# show STATUS COMMAND…: prints the command and its output. The demo fails if the exit status is not STATUS.
show() {
  local want=$1 status=0
  shift
  printf '  %s$ %s%s\n' "$BOLD" "$(quoted "$@")" "$PLAIN"
  "$@" >"$LOGS/demo.log" 2>&1 </dev/null || status=$?
  indented <"$LOGS/demo.log"
  ((status == want)) || die "this should have ended with exit status $want, not $status"
  if ((status)); then note "exit status $status"; fi
}

# excerpt TITLE: prints the title, then standard input.
excerpt() {
  note "$1"
  indented
}

# json FILE EXPRESSION: prints a Python expression of d, the object in the file.
json() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }

SPEC=(map --expr 'x / (1 + expf(-x))' --dtype f32 --box 32x32 --swizzle 128B --shape 16384x16384)

heading "1. A spec, checked without a GPU"
note "SiLU over a matrix of f32, in tiles of 32 x 32 through 128-byte-swizzled shared memory"
show 0 jitc validate "${SPEC[@]}"
note "a spec that breaks rules: every broken rule is named, with the nearest legal value and the rule's source"
show 2 jitc validate copy --dtype f32 --shape 1000x1001 --box 32x48 --swizzle 128B

heading "2. The kernel for this spec"
show 0 jitc source "${SPEC[@]}" -o silu.cu
sed -n '/^\/\/ ---- what this kernel is specialised for/,/^\/\/ ---- elementwise/p' silu.cu |
  grep -E '^constexpr|^__device__ constexpr|using Element|#line 1|^x |\.offset' |
  excerpt "from its $(wc -l <silu.cu) lines: the constants that it is specialised for, and the expression"
sed -n '/^__device__ __forceinline__ void load_first_tiles(/,/^}/p' silu.cu |
  excerpt "the thread that loads: a ring of stages, each with an mbarrier"
sed -n '/^extern "C" __global__/,/^}/p' silu.cu | excerpt "the kernel"

heading "3. PTX"
show 0 jitc ptx "${SPEC[@]}" -o silu.ptx
grep -nE 'mbarrier|bulk|fence\.' silu.ptx | awk '/mbarrier.init/ { if (++inits > 1) next } { print }' |
  excerpt "copies, barriers and fences (one mbarrier.init of $(grep -c mbarrier.init.shared silu.ptx) shown)"

heading "4. Cubin"
# Steps 2 and 3 have compiled it already. Clear the cache to show the time of every stage.
rm -rf "$TMAJIT_CACHE_DIR"
note "compiled with an empty cache:"
show 0 jitc cubin "${SPEC[@]}" -o silu.cubin
jitc cubin "${SPEC[@]}" --json -o silu.cubin >again.json
note "requested again by another process: from $(json again.json 'd["cache"]') in $(json again.json \
  'format(d["milliseconds"]["fetch"], ".2f")') ms; the key covers source, options, architecture and NVRTC:"
show 0 jitc cache ls

heading "5. Machine code"
if [[ -n $(type -P nvdisasm) || -x $DEPS/cuda/bin/nvdisasm ]]; then
  show 0 jitc sass "${SPEC[@]}" -o silu.sass
  grep -E 'UTMALDG|UTMASTG|UTMACMDFLUSH|SYNCS\.(PHASECHK|ARRIVE)' silu.sass | sed -E 's/ +/ /g' |
    excerpt "the copy engine's loads and stores, the barriers' waits and arrivals"
else
  note "not shown: there is no nvdisasm here"
fi

heading "6. A mistake in an expression"
show 3 jitc cubin map --expr 'x / (1 + exf(-x))' --dtype f32 --shape 64x64 -o wrong.cubin

heading "7. The run"
jitc doctor --json >doctor.json || true
hopper='any(c["subject"].startswith("GPU ") and c["status"] == "ok" for c in d["checks"])'
small=1024 # rows and columns of the simulated device's matrix
if [[ $(json doctor.json "$hopper") == True ]]; then
  rows=${TMAJIT_DEMO_ROWS:-16384}
  step demo-data "write x.npy, $rows x 16384 of f32" \
    python3 "$ROOT/tools/lib/demo_data.py" make x.npy "$rows" 16384 || die "no input to run on"
  show 0 jitc run map --expr 'x / (1 + expf(-x))' --box 32x32 --swizzle 128B --in x.npy --out y.npy
  closing="All steps were run."
else
  note "no Hopper GPU here: the simulated device executes the kernel's PTX on the CPU, and checks it"
  python3 "$ROOT/tools/lib/demo_data.py" make x.npy "$small" "$small"
  show 0 jitc run map --expr 'x / (1 + expf(-x))' --box 32x32 --swizzle 128B --device sim --in x.npy --out y.npy
  closing="NOT run here: the kernel on a GPU, and the comparison of its bandwidth with the driver's copy. They need a Hopper
  GPU (H100, H200) and its driver. The simulated device has run the same PTX; the result was right, without reports."
fi
note "$(python3 "$ROOT/tools/lib/demo_data.py" check x.npy y.npy)"
rm -f x.npy y.npy

heading "8. The kernel, broken on purpose"
note "step 3's PTX with a launch description, on the simulated device: any kernel can be checked this way"
python3 "$ROOT/tools/lib/demo_data.py" make x.npy "$small" "$small"
jitc run map --expr 'x / (1 + expf(-x))' --box 32x32 --swizzle 128B --device sim --in x.npy --json >run.json
# The number of tiles in each dimension as a divider (templates/params/divider.cuh): divisor, multiplier and shift. For a
# divisor 1 << n the multiplier is 1 << 31 and the shift n - 1.
tiles="$((small / 32)), $((1 << 31)), $(python3 -c "print(($small // 32).bit_length() - 2)")"
cat >launch.json <<END
{
  "grid": $(json run.json 'd["plan"]["steps"][0]["spec"]["launch"]["grid"]'),
  "block": $(json run.json 'd["plan"]["steps"][0]["spec"]["launch"]["block"]'),
  "shared_bytes": $(json run.json 'd["plan"]["steps"][0]["spec"]["launch"]["shared_bytes"]'),
  "source": "silu.cu",
  "buffers": {"x": {"in": "x.npy"}, "y": {"dtype": "f32", "shape": [$small, $small], "out": "y.npy"}},
  "parameters": [
    {"tensor_map": {"buffer": "x", "box": [32, 32], "swizzle": "128B"}},
    {"tensor_map": {"buffer": "y", "box": [32, 32], "swizzle": "128B"}},
    {"type": "u32", "value": [$tiles, $tiles]}
  ]
}
END
show 0 jitc run --ptx silu.ptx --launch launch.json
rm -f y.npy
note "without one fence: on a GPU the kernel may run a thousand times without an error"
sed '/fence\.proxy\.async/d' silu.ptx >broken.ptx
{ diff silu.ptx broken.ptx || true; } | indented
show 1 jitc run --ptx broken.ptx --launch launch.json
note "each load's barrier expects 16 bytes too many: a GPU would hang"
sed -E 's/mbarrier\.arrive\.expect_tx[^[]*(\[%r[0-9]+\])/mbarrier.expect_tx.relaxed.cta.shared::cta.b64 \1, 16; &/' \
  silu.ptx >broken.ptx
{ diff silu.ptx broken.ptx || true; } | indented
show 1 jitc run --ptx broken.ptx --launch launch.json
[[ ! -e y.npy ]] || die "jitc has written the result of a kernel with reports"

heading "9. The kernel, without a compiler"
note "a pack of the kernels so far; the same command then needs neither NVRTC nor the cache folder"
show 0 jitc pack build demo.pack --ptx
show 0 env TMAJIT_PACKS=demo.pack TMAJIT_NVRTC=/none jitc run map --expr 'x / (1 + expf(-x))' --box 32x32 --swizzle 128B \
  --device sim --in x.npy --out y.npy --cache-dir empty
note "$(python3 "$ROOT/tools/lib/demo_data.py" check x.npy y.npy)"
rm -rf x.npy y.npy empty

heading "Done"
printf '  %s\n' "$closing"
note "All files are in build/demo. Next: jitc --help, examples/, ./tools/test.sh"
