#!/bin/bash
# CPU of a proxy per request: HTTP/2 clients (h2load, 4 connections, 32 streams each), HTTP/1.1 backend (nginx), a body of
# 100 bytes. nginx and the engines here, one after the other on the same core, three rounds each. Needs nginx, h2load,
# taskset and two cores.
set -euo pipefail
cd "$(dirname "$0")/../../.."
PATH=$PWD/node_modules/.bin:$PATH
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
backend=18190 nginx_port=18191 own=18192
requests=${REQUESTS:-60000}

cat >"$work/backend.conf" <<CONF
worker_processes 1; daemon off; pid $work/backend.pid; error_log $work/backend.log;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000000;
  server { listen 127.0.0.1:$backend; location / { return 200 "$(printf 'x%.0s' {1..100})"; } } }
CONF
cat >"$work/proxy.conf" <<CONF
worker_processes 1; daemon off; pid $work/proxy.pid; error_log $work/proxy.log;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000000;
  upstream backend { server 127.0.0.1:$backend; keepalive 256; keepalive_requests 1000000000; }
  server { listen 127.0.0.1:$nginx_port http2;
    location / { proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ""; } } }
CONF
taskset -c 1 nginx -c "$work/backend.conf" & pids+=($!)
taskset -c 0 nginx -c "$work/proxy.conf" & pids+=($!)
taskset -c 0 node proxy/http2/bench/serve.ts $own $backend HTTP1 & own_pid=$!; pids+=("$own_pid")
until curl -s --http2-prior-knowledge "http://127.0.0.1:$own/" >/dev/null; do read -rt 0.2 <> <(:) || true; done
nginx_pid=$(pgrep -P "${pids[1]}" | head -1)

ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
measure() { # name, port, pid
  local before after rate
  before=$(ticks "$3")
  rate=$(taskset -c 1 h2load -n "$requests" -c 4 -m 32 -t 1 "http://127.0.0.1:$2/" | awk '/^finished/ { print $4 } /^requests/ { print $8 }' | paste -sd' ')
  after=$(ticks "$3")
  awk -v n="$requests" -v d=$((after - before)) -v name="$1" -v rate="$rate" \
    'BEGIN { printf "%-8s %7.1f us CPU per request  (req/s, succeeded: %s)\n", name, d * 10000 / n, rate }'
}
measure warm-up $own "$own_pid" >/dev/null
for round in 1 2 3; do
  measure nginx $nginx_port "$nginx_pid"
  measure gw $own "$own_pid"
done
