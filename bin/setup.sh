# shellcheck shell=sh
# Read by bin/run and bin/test (POSIX sh): finds a Python, makes .venv, installs a lock into it.
# Expects to stand in the project's folder. Sets `python`, the interpreter of .venv.

say() {
    printf '%s\n' "$*"
}

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# suits PYTHON: is it Python >= 3.12, able to make a virtual environment?
suits() {
    "$1" -c 'import sys; assert sys.version_info >= (3, 12); import ensurepip, venv' >/dev/null 2>&1
}

# find_python: prints the first interpreter that suits.
find_python() {
    for candidate in "${PYTHON:-python3}" python3 python3.14 python3.13 python3.12 \
        "${PYENV_ROOT:-/nonexistent}"/versions/*/bin/python "${HOME:-/nonexistent}"/.pyenv/versions/*/bin/python
    do
        if suits "$candidate"; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

make_venv() {
    found=$(find_python) || fail "no Python 3.12 or newer was found (with its venv module, which" \
        "Debian packs as python3-venv); install one, or name it: PYTHON=/path/to/python3 $0"
    rm -rf .venv
    "$found" -m venv .venv || fail "$found could not make the virtual environment .venv"
}

# install LOCK: brings .venv to the lock, unless the lock it was last brought to is the same.
# tests/requirements.lock holds everything that requirements.lock does.
install() {
    python=.venv/bin/python
    suits "$python" || make_venv
    case $1 in
        tests/*) stamp=.venv/installed.tests ;;
        *) stamp=.venv/installed.runtime ;;
    esac
    if cmp -s "$1" "$stamp"; then
        return 0
    fi
    "$python" -m pip --version >/dev/null 2>&1 || make_venv
    say "Installing packages into .venv; this happens once and takes about a minute."
    rm -f .venv/installed.runtime .venv/installed.tests
    "$python" -m pip install --quiet --quiet --disable-pip-version-check --require-hashes -r "$1" ||
        fail "the packages of $1 could not be installed; pip's message above says why"
    case $1 in
        tests/*) cp requirements.lock .venv/installed.runtime ;;
    esac
    cp "$1" "$stamp"
}
