#!/bin/sh
# Types (those of packages/* by compiling them), lint, format and the rules of the house (layers, circles, sizes:
# test/house). Silent when all is well; otherwise each step that fails shows what it found, and the ones after it
# still run.
set -u
cd "$(dirname "$0")/.." || exit 1
PATH="$PWD/node_modules/.bin:$PATH"
failed=0

step() {
  name=$1
  shift
  found=$("$@" 2>&1) && return
  printf '== %s\n%s\n\n' "$name" "$found" >&2
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
