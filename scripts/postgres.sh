#!/usr/bin/env bash
# A real PostgreSQL for tests and benchmarks, on loopback alone.
#
#   scripts/postgres.sh install        gets it from the distribution's packages where it is missing (needs root)
#   scripts/postgres.sh start FOLDER   makes a cluster in FOLDER if there is none, starts it, prints its URL
#   scripts/postgres.sh stop FOLDER [fast|immediate]
#
# Everybody on this machine may connect without a password: for tests only.
set -euo pipefail

programs() { # where initdb and pg_ctl are; the newest where there are several
    local found
    found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
    if [ -n "$found" ] && [ -x "$found/initdb" ]; then
        echo "$found"
    elif command -v initdb >/dev/null && command -v pg_ctl >/dev/null; then
        dirname "$(command -v initdb)"
    else
        return 1
    fi
}

unprivileged() { # PostgreSQL refuses to run as root
    if [ "$(id -u)" -ne 0 ]; then
        "$@"
    else
        setpriv --reuid="$(owner)" --regid="$(id -g "$(owner)")" --clear-groups "$@"
    fi
}

owner() { if id postgres >/dev/null 2>&1; then echo postgres; else echo nobody; fi; }

install_it() {
    if programs >/dev/null; then return; fi
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "PostgreSQL is not installed, and only root with apt-get can install it here" >&2
        exit 3
    fi
    export DEBIAN_FRONTEND=noninteractive
    exec 9>"${TMPDIR:-/tmp}/verifier-postgres-install.lock" && flock 9  # several test processes may ask at once
    if programs >/dev/null; then return; fi
    # the packages would start a cluster of their own
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    { apt-get update && apt-get install -y --no-install-recommends postgresql; } >&2
    programs >/dev/null
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start() {
    local folder=$1 bin data
    install_it
    bin=$(programs)
    data=$folder/data
    mkdir -p "$folder"
    [ "$(id -u)" -ne 0 ] || chown "$(owner)" "$folder"
    cd /  # the caller's folder may be closed to the unprivileged user
    if [ ! -e "$data/PG_VERSION" ]; then
        unprivileged "$bin/initdb" -D "$data" -U verifier -A trust -E UTF8 --locale=C.UTF-8 -N >"$folder/initdb.log" 2>&1
        free_port >"$folder/port"
    fi
    unprivileged "$bin/pg_ctl" -D "$data" -l "$data/server.log" -w -t 60 -o \
        "-c listen_addresses=127.0.0.1 -p $(cat "$folder/port") -c unix_socket_directories='' -c fsync=on" \
        start >/dev/null
    echo "postgresql+psycopg://verifier@127.0.0.1:$(cat "$folder/port")/postgres"
}

stop() {
    local bin
    bin=$(programs)
    cd /
    unprivileged "$bin/pg_ctl" -D "$1/data" -m "${2:-fast}" -w -t 60 stop >/dev/null
}

case "${1:-}" in
    install) install_it ;;
    start) start "$2" ;;
    stop) stop "$2" "${3:-fast}" ;;
    *)
        sed -n '2,8p' "$0" >&2
        exit 2
        ;;
esac
