/**
 * The walkthrough from an empty machine to the first sold server matches the software: commands, files,
 * settings.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { describeConfig, loadConfig } from '../../src/config.ts';
import { parseCatalogue } from '../../src/domain/catalogue/parse.ts';
import { OperatorError } from '../../src/kernel/operator-error.ts';
import { checkSettings } from '../../src/operator/going-live.ts';
import { runOperator } from '../../src/operator/run.ts';
import { SETTINGS } from '../../src/spec/settings.ts';
import { codeBlocks, readGuide } from './docs-content.ts';

const GUIDE = readGuide('operators/first-server');
const SHELL_LINES = codeBlocks(GUIDE)
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.split('\n'));

const readDeployFile = (name: string) =>
  readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');
const SERVICE_UNIT = readDeployFile('skerryd.service');
const ENVIRONMENT_FILE = readDeployFile('skerryd.env.example');

/** Options of `serve` that the units read from the environment file. No setting: those have a prefix. */
const SERVE_OPTIONS = 'SERVE_OPTIONS';

/** Commands that the composition root adds, without options. */
const BUILT_IN_COMMANDS = ['doctor', '--help'];

test('every command of the walkthrough parses as written', async () => {
  const inText = [...GUIDE.matchAll(/`skerryd ([^`…]+)`/g)].map((match) => match[1] ?? '');
  const typed = SHELL_LINES.filter((line) => line.startsWith('skerryd ')).map((line) => line.slice(8));
  assert.ok(typed.length > 15, `${typed.length} commands`);
  const rejected: string[] = [];
  for (const line of [...typed, ...inText].filter((words) => !BUILT_IN_COMMANDS.includes(words))) {
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
    if (code === 2) rejected.push(`${line}: ${output}`);
  }
  assert.deepEqual(rejected, []);
});

test('the catalog of the walkthrough contains the names that its commands use', () => {
  const file = codeBlocks(GUIDE).find(({ language }) => language === 'yaml')?.text ?? '';
  const { regions, plans, images } = parseCatalogue(file, { sandbox: false });
  assert.deepEqual([regions.length, plans.length, images.length], [1, 1, 1]);
  for (const [, region] of SHELL_LINES.join('\n').matchAll(/--region (\S+)/g))
    assert.equal(region, regions[0]?.id);
  for (const [, image] of SHELL_LINES.join('\n').matchAll(/--image (\S+)/g)) {
    assert.equal(image, `${images[0]?.family}-${images[0]?.version}`);
  }
});

test('the files that the walkthrough copies or runs exist', () => {
  const named = SHELL_LINES.flatMap((line) => line.match(/(?<=^| )(deploy|scripts)\/\S+/g) ?? []);
  assert.ok(named.length >= 4, named.join(' '));
  for (const path of named) assert.ok(existsSync(new URL(`../../${path}`, import.meta.url)), path);
});

test('the environment file names only existing settings and selects real machines', () => {
  const lines = ENVIRONMENT_FILE.split('\n').filter((line) => /^#?[A-Z_]+=/.test(line));
  const names = lines.map((line) => line.replace('#', '').split('=')[0] ?? '');
  assert.deepEqual(
    names.filter((name) => !Object.hasOwn(SETTINGS, name)),
    [SERVE_OPTIONS],
  );
  const config = loadConfig({}, ENVIRONMENT_FILE);
  assert.equal(config.SKERRY_COMPUTE, 'qemu');
  assert.equal(config.SKERRY_QEMU_HOSTS, 'par-1');
});

test('the settings of the walkthrough configure a live service, with only coins missing', () => {
  const lines = [...GUIDE.matchAll(/^ +((SKERRY_[A-Z_]+)=.+)$/gm)].map(([, line = '', name = '']) => ({
    line,
    name,
  }));
  assert.ok(lines.length >= 5, `${lines.length} settings`);
  const database =
    /^ *echo "(DATABASE_URL=[^"]+)"/m.exec(GUIDE)?.[1]?.replace('$password', 'of-a-test') ?? '';
  const unchanged = ENVIRONMENT_FILE.split('\n').filter(
    (line) => !lines.some(({ name }) => line.startsWith(`${name}=`)),
  );
  const text = [...unchanged, ...lines.map(({ line }) => line), database].join('\n');
  assert.equal(loadConfig({}, text).SKERRY_MODE, 'live');
  const found = checkSettings(describeConfig({}, text));
  assert.equal(found[0]?.message, 'live');
  assert.deepEqual(
    found.filter(({ level }) => level === 'fail').map(({ message }) => message.split(':')[0]),
    ['no coin is enabled'],
  );
});

test('an upgrade migrates, a restore migrates too, and the unit starts after the database', () => {
  const partOf = (page: string, heading: string) =>
    codeBlocks(readGuide(`operators/${page}`), heading)
      .map(({ text }) => text)
      .join('\n');
  for (const heading of ['Upgrade a sandbox', 'Upgrade a live service']) {
    const update = partOf('upgrade', heading);
    assert.match(update, /^npm ci .*\nskerryd migrate\nsystemctl start skerryd$/m, heading);
  }
  assert.match(partOf('backup', 'Schedule backups'), /^skerryd backup list$/m);
  assert.match(partOf('backup', 'Restore'), /^skerryd restore .* --identity .*\nskerryd migrate$/m);
  assert.match(SERVICE_UNIT, /^After=.*\bpostgresql\.service\b/m);
});

test('the unit, the environment file, and the walkthrough agree on paths', () => {
  const unit = new Map([...SERVICE_UNIT.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
  assert.equal(unit.get('WorkingDirectory'), '/opt/skerry');
  assert.equal(unit.get('ExecStart'), `/opt/skerry/bin/skerryd serve $${SERVE_OPTIONS}`);
  // Systemd kills everything left in the unit's control group. Guests run outside of it.
  assert.equal(unit.get('KillMode'), 'mixed');
  for (const path of [unit.get('EnvironmentFile'), '/etc/systemd/system/skerryd.service']) {
    assert.ok(
      SHELL_LINES.some((line) => line.endsWith(` ${path}`) || line.includes(` ${path} `)),
      path,
    );
  }
  const folder = unit.get('RequiresMountsFor') ?? '';
  assert.ok(SHELL_LINES.includes(`install -d -m 0755 ${folder}`));
  const config = loadConfig({}, ENVIRONMENT_FILE);
  for (const path of [config.SKERRY_DATA_DIR, config.SKERRY_QEMU_DIR]) {
    assert.ok(path?.startsWith(`${folder}/`) && GUIDE.includes(`\`${path}\``), path ?? '');
  }
});

test('the walkthrough adds a blackhole route for every address block', () => {
  const instances = SHELL_LINES.flatMap((line) => line.match(/(?<=skerry-blackhole@)[\da-f]\S*/g) ?? []);
  const blocks = instances.map((instance) => instance.replaceAll('-', '/'));
  const added = SHELL_LINES.flatMap((line) => line.match(/(?<=^skerryd ips add .*--block )\S+/) ?? []);
  assert.deepEqual(blocks.toSorted(), [...new Set(added)].toSorted());
  assert.ok(SHELL_LINES.some((line) => line === 'cp deploy/skerry-blackhole@.service /etc/systemd/system/'));
});

test('the walkthrough installs every package that skerryd doctor requires', () => {
  const source = new URL('../../src/drivers/compute/qemu/examine/system.ts', import.meta.url);
  const table = /PROGRAMS[^=]*= \{([^}]*)\}/.exec(readFileSync(source, 'utf8'))?.[1] ?? '';
  const packages = [...table.matchAll(/: '([^']+)'/g)].map((match) => match[1] ?? '');
  assert.ok(packages.length >= 8, table);
  const installed = SHELL_LINES.find((line) => line.startsWith('apt-get install'))?.split(' ') ?? [];
  assert.deepEqual(
    packages.filter((name) => !installed.includes(name)),
    [],
  );
});

test('links of the walkthrough lead to existing sections', () => {
  const links = [...GUIDE.matchAll(/\]\(([\w-]+)\.md(?:#([\w-]+))?\)/g)];
  assert.ok(links.length >= 5);
  for (const [, name = '', part] of links) {
    const parts = [...readGuide(`operators/${name}`).matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    if (part !== undefined) assert.ok(parts.includes(part), `${name}.md has no section ${part}`);
  }
});
