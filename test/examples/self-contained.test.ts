/** The examples can be copied: each is self-contained, and the commands in their READMEs exist. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { COMMANDS } from '../../packages/cli/src/commands/index.ts';
import { kebabCase } from '../../packages/cli/src/options.ts';
import sdk from '../../packages/sdk/package.json' with { type: 'json' };
import { importEdges } from '../house/import-edges.ts';
import { readTree } from '../support/project-files.ts';
import { EXAMPLES } from './example-process.ts';

const EXAMPLE_NAMES = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const readExample = (...path: string[]) => readFileSync(join(EXAMPLES, ...path), 'utf8');
const INDEX = readExample('README.md');

/** Returns the shell lines in a text that call this program, with continued lines joined. */
function commandLines(program: string, text: string): string[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'));
  return lines.filter((line) => line.startsWith(`${program} `)).map((line) => line.replace(/ +#.*/, ''));
}

for (const name of EXAMPLE_NAMES) {
  describe(`the example ${name}`, () => {
    const readme = readExample(name, 'README.md');

    it('needs only the SDK and Node', () => {
      const manifest = JSON.parse(readExample(name, 'package.json')) as { readonly dependencies: object };
      assert.deepEqual(manifest.dependencies, { '@skerry/sdk': `^${sdk.version}` });
      const files = readTree([`examples/${name}`], /\.ts$/);
      for (const { from, specifier, target } of importEdges(files)) {
        const fits = target === null ? /^(?:node:|@skerry\/sdk$)/.test(specifier ?? '') : files.has(target);
        assert.ok(fits, `${from}: ${specifier}`);
      }
    });

    it('explains its purpose, how to run it, its cost, and how to remove it', () => {
      for (const part of [/^# /m, /^## Run it$/m, /^## What it costs/m, /^## Take it down$/m]) {
        assert.match(readme, part);
      }
      assert.ok(INDEX.includes(`](${name})`), 'the index links to the example');
    });

    it('reads every variable that its README names', () => {
      const sources = [...readTree([`examples/${name}`], /\.ts$/).values()].join('\n');
      const names = [...readme.matchAll(/^\| `([A-Z_]+)`(?:, `([A-Z_]+)`)?/gm)].flatMap(
        ([, ...found]) => found,
      );
      for (const variable of names.filter(Boolean)) assert.ok(sources.includes(String(variable)), variable);
    });

    it('uses only existing commands and options', () => {
      const calls = commandLines('skerry', readme);
      assert.ok(calls.length > 0);
      for (const call of calls) {
        const row = COMMANDS.filter((each) => `${call} `.startsWith(`skerry ${each.name} `)).sort(
          (a, b) => b.name.length - a.name.length,
        )[0];
        assert.ok(row, call);
        const known = Object.keys(row.options ?? {}).map((name) => `--${kebabCase(name)}`);
        for (const [flag] of call.matchAll(/(?<= )--[a-z-]+/g))
          assert.ok(known.includes(flag), `${call}: ${flag}`);
      }
    });
  });
}
