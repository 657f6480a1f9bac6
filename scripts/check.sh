#!/bin/sh
# Types, lint, format, layers. Quiet unless something is wrong.
set -eu
cd "$(dirname "$0")/.."
arch=$(node -p process.arch)
"node_modules/@typescript/typescript-linux-$arch/lib/tsc" --project tsconfig.json
node scripts/biome.ts check --diagnostic-level=warn .
node --test --test-reporter=dot test/house/*.test.ts
