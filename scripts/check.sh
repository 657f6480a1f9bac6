#!/bin/sh
# Checks types (packages/* by compiling them), lint, format, spelling, and the house rules in test/house.
# Prints nothing if everything passes. Otherwise each failed step prints its findings, and later steps still
# run.
set -u
cd "$(dirname "$0")/.." || exit 1
PATH="$PWD/node_modules/.bin:$PATH"
failed=0

step() {
  name=$1
  shift
  output=$("$@" 2>&1) && return
  printf '== %s\n%s\n\n' "$name" "$output" >&2
  failed=1
}

arch=$(node -p process.arch)
step 'packages' node scripts/build-packages.ts
step 'types' "node_modules/@typescript/typescript-linux-$arch/lib/tsc" --project tsconfig.json
step 'lint and format' node scripts/biome.ts check --error-on-warnings --diagnostic-level=warn .
step 'spelling' node node_modules/cspell/bin.mjs lint --no-progress --no-summary --gitignore .
step 'house' node --test --test-reporter=./scripts/test-reporter.ts test/house/*.test.ts
step 'the OpenAPI document' env REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
  node node_modules/.bin/redocly lint --extends=recommended-strict openapi/v1.json
exit $failed
