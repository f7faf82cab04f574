# Shared by the scripts in this folder; sourced, never run.
#
# strata_setup gives a virtual environment in .venv with the package (editable) and its test tools.
# It installs only when pyproject.toml or the interpreter changed since last time, so a prepared
# checkout works without a network. Nothing outside the checkout is written, caches included.

STRATA_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
STRATA_VENV="$STRATA_ROOT/.venv"
STRATA_PYTHON="$STRATA_VENV/bin/python"

strata_say() {
    printf '== %s\n' "$*"
}

# The interpreter to build the environment with: $PYTHON, or the first one that is new enough.
strata_base_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.11 python3.12 python3.13 python3.14; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$candidate"
            return 0
        fi
    done
    echo 'Strata needs Python 3.11 or newer; set PYTHON to one.' >&2
    return 1
}

# One line that changes whenever the installed environment would have to change.
strata_fingerprint() {
    "$1" - "$STRATA_ROOT" <<'PY'
import hashlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
digest = hashlib.sha256((root / "pyproject.toml").read_bytes()).hexdigest()
print(digest, root, "%d.%d.%d" % sys.version_info[:3])
PY
}

strata_install() {
    local base="$1" wanted="$2"
    strata_say "setting up .venv (first run, or pyproject.toml changed)"
    if ! "$STRATA_PYTHON" -c '' >/dev/null 2>&1 || ! grep -qsF " $STRATA_ROOT " "$STRATA_VENV/.fingerprint"; then
        rm -rf "$STRATA_VENV"
        if ! "$base" -m venv "$STRATA_VENV"; then
            echo 'could not make a virtual environment; on Debian: apt-get install python3-venv' >&2
            return 1
        fi
        # Known before the long step, so that an interrupted install resumes instead of starting over.
        echo "unfinished $STRATA_ROOT -" >"$STRATA_VENV/.fingerprint"
    fi
    "$STRATA_PYTHON" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        -e "$STRATA_ROOT[test]"
    echo "$wanted" >"$STRATA_VENV/.fingerprint"
}

strata_setup() {
    export PIP_NO_INPUT=1
    unset PYTHONPATH PYTHONHOME
    local base wanted
    base="$(strata_base_python)"
    wanted="$(strata_fingerprint "$base")"
    if [ "$(cat "$STRATA_VENV/.fingerprint" 2>/dev/null)" = "$wanted" ] && "$STRATA_PYTHON" -c '' 2>/dev/null; then
        return 0
    fi
    strata_install "$base" "$wanted"
}
