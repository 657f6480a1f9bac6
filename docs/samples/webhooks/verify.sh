#!/bin/sh
# Verifies one webhook: WEBHOOK_SECRET=whsec_... sh verify.sh "<X-Service-Signature>" < body
# Exits with 0 if the body is genuine and recent, otherwise with 1. Needs openssl. While openssl runs, other
# users of this machine can see the secret in the process list: use another sample on a shared machine.
set -eu
umask 077
tolerance_s=300

signature=$1
body=$(mktemp)
trap 'rm -f "$body"' EXIT
# Use a file: a shell variable loses NUL bytes and trailing newlines.
cat >"$body"

part() { printf '%s\n' "$signature" | tr ',' '\n' | sed -n "s/^$1=//p" | head -n 1; }
t=$(part t)
v1=$(part v1)
case $t in '' | *[!0-9]* | ?????????????*) exit 1 ;; esac
case $v1 in *[!0-9a-f]*) exit 1 ;; esac
[ "${#v1}" -eq 64 ] || exit 1

# Strip leading zeros, or the shell reads the number as octal.
age_s=$(($(date +%s) - $(printf '%s' "$t" | sed 's/^0*\(.\)/\1/')))
[ "$age_s" -le "$tolerance_s" ] && [ "$age_s" -ge "-$tolerance_s" ] || exit 1

expected=$({ printf '%s.' "$t"; cat "$body"; } |
  openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d ' ' -f 1)
# Compare hashes, so that the timing reveals nothing about the correct signature.
hash() { printf '%s' "$1" | openssl dgst -sha256 -r; }
[ "$(hash "$v1")" = "$(hash "$expected")" ]
