/** The guides to real coins match the software: commands, settings, links, and claims about testing. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { OperatorError } from '../../src/kernel/operator-error.ts';
import { runOperator } from '../../src/operator/run.ts';
import { COINS } from '../../src/spec/coins.ts';
import { QUOTE_SOURCE_NAMES } from '../../src/spec/quote-sources.ts';
import { COIN_SETTINGS } from '../../src/spec/settings/coins.ts';
import { SETTINGS } from '../../src/spec/settings.ts';
import { codeBlocks, readGuide } from './docs-content.ts';

const COINS_GUIDE = readGuide('operators/coins');
const NODES = readGuide('operators/coin-nodes');
const SWEEPING_GUIDE = readGuide('operators/sweeping');
const PAGES = [COINS_GUIDE, NODES, readGuide('operators/coin-recovery'), SWEEPING_GUIDE];

/** Commands that the composition root adds. */
const BUILT_IN_COMMANDS = ['doctor', 'config'];

/** Coins that are tested against a real node, by their names in the guide's table. */
const TESTED_NODES: Readonly<Record<string, { readonly folder: string; readonly program: RegExp }>> = {
  Litecoin: { folder: 'utxo', program: /findProgram\(\['litecoind'\]\)/ },
  Monero: { folder: 'monero', program: /findProgram\(\['monero-wallet-rpc'\]\)/ },
  'Ethereum, USDT': { folder: 'evm', program: /spawn\(/ },
};
const NEVER_TESTED = /\*\*never tested(?: with (?:a real `bitcoind`|a real node|the real feeds))?\*\*/;

/** Returns the cells of each row of the table with this header. */
function tableRows(heading: string, guide = COINS_GUIDE): readonly (readonly string[])[] {
  const at = guide.indexOf(`${heading}\n`);
  assert.ok(at >= 0, heading);
  const table = guide.slice(at).split('\n\n')[0] ?? '';
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

function headingSlugs(guide: string): string[] {
  return [...guide.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('the guides to real coins', () => {
  it('contain only commands that parse', async () => {
    const inBlocks = PAGES.flatMap((guide) => [
      ...guide.matchAll(/^ *(?:SKERRY_\w+=\S+ )?skerryd ([^#\n]*)/gm),
    ]);
    const inText = PAGES.flatMap((guide) => [...guide.matchAll(/`skerryd ([^`…]+)`/g)]);
    const lines = [...inBlocks, ...inText].map(([, words = '']) => words.trim());
    assert.ok(lines.length > 15, `${lines.length} commands`);
    const rejected: string[] = [];
    for (const line of lines.filter((words) => !BUILT_IN_COMMANDS.includes(words))) {
      const argv = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      let output = '';
      const write = (text: string) => {
        output += text;
      };
      const resources = {
        settings: () => [],
        database: () => Promise.reject(new OperatorError('opened')),
        service: () => Promise.reject(new OperatorError('opened')),
      };
      const code = await runOperator(argv, resources, undefined, { out: write, err: write, ask: null });
      // A sentence may name a command without its arguments.
      if (code === 2 && !output.includes('missing required argument')) rejected.push(`${line}: ${output}`);
    }
    assert.deepEqual(rejected, []);
  });

  it('name every coin, every coin setting, and every price source', () => {
    const missing = [
      ...Object.keys(COIN_SETTINGS),
      ...COINS.map(({ code }) => `\`${code}\``),
      ...QUOTE_SOURCE_NAMES,
    ].filter((word) => !`${COINS_GUIDE}${NODES}`.includes(word));
    assert.deepEqual(missing, []);
  });

  it('name only settings that exist', () => {
    const named = new Set(PAGES.flatMap((guide) => guide.match(/SKERRY_[A-Z0-9_]+/g) ?? []));
    assert.deepEqual(
      [...named].filter((name) => !Object.hasOwn(SETTINGS, name)),
      [],
    );
  });

  it('state the actual defaults', () => {
    const rows = [...COINS_GUIDE.matchAll(/^\| `(SKERRY_[A-Z0-9_]+)` \| `([^`]+)`/gm)];
    assert.ok(rows.length >= 4, `${rows.length} defaults`);
    for (const [, name = '', value] of rows) {
      const setting = Object.entries(COIN_SETTINGS).find(([each]) => each === name);
      assert.equal(setting?.[1].default, value, name);
    }
  });

  it('name the derivation path of each coin', () => {
    for (const account of ["m/84'/0'/0'", "m/84'/2'/0'", "m/44'/60'/0'", "m/44'/195'/0'"]) {
      assert.ok(COINS_GUIDE.includes(`\`${account}\``), account);
    }
  });

  it('link to existing guides and sections', () => {
    for (const guide of PAGES) {
      for (const [, name = '', part] of guide.matchAll(/\]\(([\w-]+)\.md(?:#([\w-]+))?\)/g)) {
        assert.ok(existsSync(new URL(`../../docs/operators/${name}.md`, import.meta.url)), name);
        if (part === undefined) continue;
        assert.ok(headingSlugs(readGuide(`operators/${name}`)).includes(part), `${name}#${part}`);
      }
    }
  });

  it('claim tests against a real node exactly where such tests exist', () => {
    const tests = new URL('../drivers/chain/', import.meta.url);
    const startedIn = (folder: string, program: RegExp) =>
      readdirSync(new URL(folder, tests)).some((file) =>
        program.test(readFileSync(new URL(`${folder}/${file}`, tests), 'utf8')),
      );
    assert.deepEqual(
      Object.entries(TESTED_NODES).filter(([, { folder, program }]) => !startedIn(folder, program)),
      [],
    );
    const rows = tableRows('| Part | Tested with |').map(([part = '', against = '']) => ({
      part,
      against,
    }));
    assert.ok(rows.length >= 7, `${rows.length} rows`);
    const claimed = rows.filter(
      ({ part, against }) => !Object.hasOwn(TESTED_NODES, part) && !NEVER_TESTED.test(against),
    );
    assert.deepEqual(claimed, [], 'the guide claims a test against a real node that does not exist');
    // Drivers that are never tested against a real node have a row that says so.
    for (const coin of ['Bitcoin', 'Tron', 'Solana']) {
      assert.ok(
        rows.some(({ part, against }) => part.includes(coin) && /\*\*never tested with a real/.test(against)),
        coin,
      );
    }
  });

  it('state for each way to sweep whether it was tested', () => {
    const rows = tableRows('| Method | Tested? |', SWEEPING_GUIDE);
    const tested = rows.filter(
      ([, status = '']) => !status.startsWith('**never.**') && status !== '**never**',
    );
    assert.deepEqual(
      tested.map(([method = '']) => method.split(/[ ,]/)[0]),
      ['Litecoin', 'Monero', 'ETH'],
    );
    for (const coin of ['Bitcoin', 'Tron', 'Solana', 'main network']) {
      assert.ok(
        rows.some(([method = '', status = '']) => method.includes(coin) && status.includes('**never')),
        coin,
      );
    }
  });

  it('show no private key in a code block', () => {
    const blocks = PAGES.flatMap((guide) => codeBlocks(guide).map(({ text }) => text));
    for (const text of blocks) assert.doesNotMatch(text, /[xyzt]prv|seed phrase/);
  });
});
