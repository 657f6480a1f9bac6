/** SDK code in the docs fits the SDK's types, so an unknown field is found even in code that no test runs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sampleCall } from '../../src/panel/docs/reference/samples.ts';
import { sdkPreamble, sdkSample } from '../../src/panel/docs/reference/samples-sdk.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { codeBlocks, REFERENCE_OPERATIONS, readGuide } from './docs-content.ts';
import { PROGRAM_LIMITS } from './sample-receivers.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMPILER = join(ROOT, `node_modules/@typescript/typescript-linux-${process.arch}/lib/tsc`);
const SAMPLE_URL = 'https://skerry.example';

const OPTIONS = {
  ...{ target: 'es2023', module: 'nodenext', lib: ['es2024', 'dom', 'dom.iterable'], noEmit: true },
  ...{ skipLibCheck: true, types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
};

it('SDK samples of the API reference fit the SDK types', FULL_ONLY, () => {
  typecheck(referencePrograms(), { strict: true });
});

// The guides use JavaScript: parameters have no types, and readers handle missing values themselves.
it('SDK code in the guides fits the SDK types', FULL_ONLY, () => {
  typecheck(guidePrograms(), { strict: false });
});

type Programs = readonly (readonly [name: string, text: string])[];

function typecheck(programs: Programs, { strict }: { readonly strict: boolean }): void {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-types-'));
  try {
    mkdirSync(join(folder, 'node_modules/@skerry'), { recursive: true });
    symlinkSync(join(ROOT, 'packages/sdk'), join(folder, 'node_modules/@skerry/sdk'));
    for (const [name, text] of programs) writeFileSync(join(folder, `${name}.mts`), `${text}\nexport {};\n`);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...OPTIONS, strict }, include: ['*.mts'] }),
    );
    const options = { encoding: 'utf8', ...PROGRAM_LIMITS } as const;
    const { status, stdout } = spawnSync(COMPILER, ['--project', folder], options);
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function referencePrograms(): Programs {
  return REFERENCE_OPERATIONS.map((operation) => {
    const { ids } = sampleCall(operation, REFERENCE_OPERATIONS, SAMPLE_URL);
    return [operation.id, `${sdkPreamble(SAMPLE_URL)}\n${sdkSample(operation, ids)}`] as const;
  });
}

function guidePrograms(): Programs {
  return ['sdk', 'getting-started'].map((name) => {
    const blocks = codeBlocks(readGuide(`customers/${name}`)).filter(({ language }) =>
      /^[jt]s$/.test(language),
    );
    return [name, blocks.map(({ text }) => text).join('\n')] as const;
  });
}
