import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { FULL_ONLY } from '../support/runs.ts';
import { type Cli, createCli, runProgram } from './support/run-cli.ts';
import { runLineOnTerminal, runOnTerminal } from './support/run-on-terminal.ts';

const BIN = fileURLToPath(new URL('../../packages/cli/bin/skerry.js', import.meta.url));
const PAGE_SIZE = 100;
const BIG_BYTES = 5_000_000;

/** A name that our service would reject. The CLI must be safe with any host. */
const HOSTILE = 'a\u001b[31mred\u009b0m\u202ebackwards\u0007\nb';
const NAMES = { plain: 'web-1', wide: '東京', emoji: '👩‍🚀🇮🇸', marked: 'e\u0301tude', hostile: HOSTILE };

function volume(name: string, n = 0) {
  return {
    id: `vol_${String(n).padStart(26, 'a')}`,
    object: 'volume',
    name,
    size_gb: 10,
    region: 'par',
    attached_to: null,
    device: null,
    encrypted: false,
    filesystem: null,
    created_at: '2026-01-31T12:00:00Z',
  };
}

/** A host whose volumes depend on the token: 5 MB of them, one with a long name, or those of NAMES. */
function answerOf(token: string, query: URLSearchParams): object {
  if (token === 'big') {
    const page = Number(query.get('cursor') ?? 0);
    const more = (page + 1) * PAGE_SIZE * 400 < BIG_BYTES;
    const data = Array.from({ length: PAGE_SIZE }, (_, at) => volume('n'.repeat(200), page * PAGE_SIZE + at));
    return { object: 'list', data, has_more: more, ...(more ? { next_cursor: String(page + 1) } : {}) };
  }
  const names = token === 'long' ? ['x'.repeat(120)] : Object.values(NAMES);
  return { object: 'list', data: names.map((name) => volume(name)), has_more: false };
}

describe('output of skerry', { concurrency: true }, () => {
  let server: Server;
  const of = (token: string): Cli => {
    const { port } = server.address() as AddressInfo;
    return createCli({ url: `http://127.0.0.1:${port}`, token });
  };
  before(async () => {
    server = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://localhost');
      const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(answerOf(token, url.searchParams)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  });
  after(() => server.close());

  it('output through a pipe is complete, however large it is', async () => {
    const { env } = of('big');
    const command = `'${process.execPath}' '${BIN}' volume list --limit 100000 -o json`;
    const line = `${command} | (read first; echo "$first"; wc -c)`;
    const { stdout, stderr } = await runProgram(['bash', '-c', line], { env });
    const [first, bytes] = stdout.split('\n');
    assert.deepEqual([first, stderr], ['[', '']);
    assert.ok(Number(bytes) > BIG_BYTES, bytes);
  });

  it('a command exits quietly when its reader has read enough', FULL_ONLY, async () => {
    const { env } = of('big');
    const line = `set -o pipefail; '${process.execPath}' '${BIN}' volume list --limit 100000 | head -1`;
    const { code, stdout, stderr } = await runProgram(['bash', '-c', line], { env });
    assert.deepEqual([code, stderr, stdout.startsWith('ID ')], [0, '', true]);
  });

  it('a full disk is reported in one line', FULL_ONLY, async () => {
    const { env } = of('long');
    const line = `'${process.execPath}' '${BIN}' volume list > /dev/full`;
    const { code, stderr } = await runProgram(['bash', '-c', line], { env });
    assert.deepEqual([code, stderr.split('\n').length], [1, 2], stderr);
    assert.match(stderr, /^skerry: .*ENOSPC/);
  });

  it('columns with wide characters and emoji are aligned, and no line ends in spaces', async () => {
    const { stdout } = await of('names')('volume', 'list', '-o', 'columns=name,region,device');
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 6);
    const before = lines.slice(0, 5).map((line) => line.slice(0, line.search(/par|REGION/)));
    // As wide as the widest cell, which is the hostile name.
    const width = before[0]?.length ?? 0;
    assert.deepEqual(
      before.map((text) => text.length + wider(text)),
      Array.from({ length: 5 }, () => width),
    );
    assert.ok(!lines.some((line) => / $/.test(line)));
  });

  it('output contains no control characters, and JSON and YAML keep the values', async () => {
    const cli = of('names');
    for (const format of ['table', 'columns=name', 'json', 'yaml']) {
      const { stdout } = await cli('volume', 'list', '-o', format);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the target.
      assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/, format);
      const read = { json: (text: string) => JSON.parse(text), yaml: (text: string) => parse(text) }[format];
      if (read)
        assert.deepEqual(
          read(stdout).map((one: { name: string }) => one.name),
          Object.values(NAMES),
        );
    }
  });

  it('cells are cut only on a terminal, and only if a line would not fit', FULL_ONLY, async () => {
    const cli = of('long');
    const { stdout } = await cli('volume', 'list');
    assert.ok(stdout.includes('x'.repeat(120)));
    const narrow = await runOnTerminal({ env: cli.env }, 'volume', 'list');
    assert.match(narrow.screen, /x{39}…/);
    assert.ok(!narrow.screen.includes('vol_'), 'a narrow line drops the ID of a resource that has a name');
    const wide = await runOnTerminal({ env: cli.env, columns: 300 }, 'volume', 'list');
    assert.ok(wide.screen.includes('x'.repeat(120)));
    const named = await runOnTerminal({ env: cli.env }, 'volume', 'list', '-o', 'columns=name');
    assert.ok(named.screen.includes('x'.repeat(120)), 'a column that was requested by name is shown in full');
  });

  it('-o columns prints the requested columns, or lists the available ones', async () => {
    const cli = of('long');
    const { stdout } = await cli('volume', 'list', '-o', 'columns=region, size_gb', '--no-header');
    assert.equal(stdout, 'par   10\n');
    for (const format of ['columns=', 'columns=nothing', 'column=id', 'xml']) {
      const wrong = await cli('volume', 'list', '-o', format);
      assert.deepEqual([wrong.code, wrong.stdout], [2, ''], format);
      assert.match(wrong.stderr, /columns=|size_gb/);
    }
    const none = await cli('server', 'console', 'web-1', '-o', 'columns=url');
    assert.deepEqual([none.code, none.stderr], [2, 'skerry: --output: this command has no columns\n']);
  });

  it('stderr is empty except on a terminal, and with --quiet there as well', FULL_ONLY, async () => {
    const { env } = of('long');
    const on = (words: string) =>
      runLineOnTerminal({ env }, `'${process.execPath}' '${BIN}' ${words} >/dev/null`);
    const [noted, quiet] = await Promise.all([on('context use none; true'), on('--quiet volume list')]);
    assert.match(noted.screen, /context "none" not found/);
    assert.equal(quiet.screen, '');
  });
});

/** The extra cells that a text of NAMES takes beyond its length. */
function wider(text: string): number {
  const known = { [NAMES.wide]: 4, [NAMES.emoji]: 4, [NAMES.marked]: 5 };
  const found = Object.entries(known).find(([name]) => text.startsWith(name));
  return found ? found[1] - found[0].length : 0;
}
