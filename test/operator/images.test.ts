/** Images of real machines are unavailable until their disks are imported. No machine starts here. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run as runProgram } from '../../src/drivers/compute/qemu/command.ts';
import { runOperator } from '../../src/operator/run.ts';
import { findProgram, skipUnlessInstalled } from '../support/installed-programs.ts';
import type { SessionClient } from '../support/session-client.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';

const MIB = 1024 ** 2;
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY me';
const FORM = { product: 'vps', plan: 's1', region: 'par', billing: 1, root_password: 'canary root password' };
/** Answers of both surfaces for an unavailable image, and for an available one without a host. */
const IMAGELESS = ['unprocessable', 'image', 'bad_os'];
const HOSTLESS = ['unprocessable', 'plan', 'out_of_stock'];
const skip = skipUnlessInstalled(findProgram(['qemu-img']), 'qemu-img is not installed');

describe('images of real machines', { skip }, () => {
  let folder: string;
  let world: World;
  let customer: SessionClient;
  let api: V1Client;
  let keyId: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-imports-'));
    world = await startWorld({
      SKERRY_COMPUTE: 'qemu',
      SKERRY_QEMU_DIR: join(folder, 'qemu'),
      SKERRY_QEMU_HOSTS: 'one',
      SKERRY_QEMU_ACCELERATOR: 'tcg',
      SKERRY_QEMU_NETNS: 'skerry-test-nowhere',
    });
    customer = await world.customer();
    api = V1Client.forUrl(world.url, await createApiToken(customer));
    keyId = (await api.post('/ssh-keys', { name: 'me', public_key: KEY })).body.id;
  });
  after(async () => {
    await world.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(...argv: string[]): Promise<{ code: number; said: string }> {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const { service, db } = world.opened;
    const resources = {
      settings: () => [],
      database: async () => db,
      service: async () => ({
        service,
        register: async () => undefined,
        carryOut: async () => undefined,
        coins: null,
      }),
    };
    const code = await runOperator(argv, resources, undefined, { out: write, err: write, ask: null });
    return { code, said: lines.join('\n') };
  }
  async function ok(...argv: string[]): Promise<string> {
    const { code, said } = await run(...argv);
    assert.equal(code, 0, said);
    return said;
  }
  async function refused(words: RegExp, ...argv: string[]): Promise<void> {
    const { code, said } = await run(...argv);
    assert.notEqual(code, 0);
    assert.match(said, words);
    assert.ok(!said.includes('\n'), said);
  }

  /** Creates a raw disk with a boot signature. */
  async function disk(name: string): Promise<{ path: string; sha256: string }> {
    const path = join(folder, name);
    const content = Buffer.alloc(MIB);
    content.write(name);
    content.set([0x55, 0xaa], 510);
    await writeFile(path, content);
    return { path, sha256: createHash('sha256').update(content).digest('hex') };
  }
  /** Creates an empty disk of this many GiB. */
  async function qcow2(name: string, sizeGb: number): Promise<string> {
    const path = join(folder, name);
    await runProgram('qemu-img', ['create', '-q', '-f', 'qcow2', path, `${sizeGb}G`]);
    return path;
  }
  const versions = async () =>
    (await api.get('/images')).body.data.map(
      ({ family, version }: Record<string, string>) => `${family}-${version}`,
    );
  async function shownId(name: string): Promise<string> {
    const line = (await ok('images', 'list')).split('\n').find((each) => each.startsWith(`${name} `));
    return /img_\w+/.exec(line ?? '')?.[0] ?? assert.fail('no such image');
  }
  /** Returns the answers of the two surfaces to an order. */
  async function order(image: string, plan = 's1'): Promise<[rest: string, field: string, session: string]> {
    const body = { name: 'web-1', plan, region: 'par', image: await shownId(image), ssh_keys: [keyId] };
    const { error } = (await api.post('/servers', body)).body;
    const { body: session } = await customer.post('/deploy-api.php', { ...FORM, plan, os: image });
    return [error.code, error.errors?.[0]?.field ?? '', String(session.error)];
  }
  const imports = async () =>
    (
      await world.opened.db.rows<{ resource: string }>(
        `select resource from audit_events where action = 'image.import' and result = 'ok' order by id`,
      )
    ).map(({ resource }) => resource);

  it('an image whose disk is not imported is hidden and cannot be ordered', async () => {
    assert.deepEqual(await versions(), []);
    assert.equal((await api.get(`/images/${await shownId('debian-12')}`)).status, 404);
    assert.deepEqual(await order('debian-12'), IMAGELESS);
  });

  it('an image can be imported by name or id, repeatedly, and is available afterward', async () => {
    const { path, sha256 } = await disk('debian');
    const said = await ok('images', 'import', path, '--image', 'debian-12', '--sha256', sha256.toUpperCase());
    assert.match(
      said,
      new RegExp(`^sha256 ${sha256}, for disks of 1 GiB or more\ndebian-12 now installs from it$`),
    );
    const id = await shownId('debian-12');
    await ok('images', 'import', path, '--image', id);
    assert.deepEqual(await imports(), [id, id]);
    assert.deepEqual(await versions(), ['debian-12']);
    assert.equal((await api.get(`/images/${id}`)).status, 200);
    assert.deepEqual(await order('debian-12'), HOSTLESS);
    assert.match(await ok('images', 'list'), new RegExp(`debian-12 +${id} +${sha256.slice(0, 12)} +1`));
    // The newest of the family is the newest imported one.
    const { body } = await customer.post('/deploy-api.php', { ...FORM, os: 'debian' });
    assert.equal(body.error, HOSTLESS[2]);
  });

  it('an imported image needs a plan whose disk is large enough', async () => {
    const larger = await qcow2('larger', 45);
    const said = await ok('images', 'import', larger, '--image', 'ubuntu-24.04');
    assert.match(said, /for disks of 45 GiB or more\n.*\nnote: too large for the disks of s1$/);
    assert.deepEqual(await order('ubuntu-24.04'), IMAGELESS);
    assert.deepEqual(await order('ubuntu-24.04', 's3'), HOSTLESS);
    const huge = await qcow2('huge', 4_000);
    assert.match(
      await ok('images', 'import', huge, '--image', 'alpine'),
      /\nwarning: no plan has a disk this large/,
    );
  });

  it('a disk can be imported as the rescue system', async () => {
    assert.match(await ok('images', 'list'), /^rescue +not imported/m);
    const before = (await imports()).length;
    const { path, sha256 } = await disk('rescue');
    assert.match(await ok('images', 'import', path, '--rescue'), /rescue systems now boot it$/);
    assert.deepEqual((await imports()).slice(before), ['rescue']);
    assert.match(await ok('images', 'list'), new RegExp(`^rescue +${sha256.slice(0, 12)} +1`, 'm'));
  });

  it('one disk is not both an image and the rescue system', async () => {
    const before = await imports();
    const [image, rescue] = [await disk('debian'), await disk('rescue')];
    await refused(
      /^skerryd: debian-12 installs from this disk, and the rescue system needs a disk of its own/,
      'images',
      'import',
      image.path,
      '--rescue',
    );
    await refused(
      /rescue systems boot this disk, and an image needs a disk of its own/,
      'images',
      'import',
      rescue.path,
      '--image',
      'debian-13',
    );
    assert.match(await ok('images', 'list'), new RegExp(`^rescue +${rescue.sha256.slice(0, 12)} +1`, 'm'));
    assert.deepEqual(await imports(), before);
  });

  it('an import with an invalid disk, checksum, image, or purpose is rejected in one line', async () => {
    const before = await imports();
    const { path } = await disk('wrong');
    await writeFile(join(folder, 'text'), 'x'.repeat(4096));
    const image = ['--image', 'debian-13'];
    await refused(/not a disk/, 'images', 'import', join(folder, 'text'), ...image);
    await refused(/file not found/, 'images', 'import', join(folder, 'nothing'), ...image);
    await refused(/this is not a file/, 'images', 'import', folder, ...image);
    await refused(
      /SHA-256 of the file does not match/,
      'images',
      'import',
      path,
      ...image,
      '--sha256',
      '0'.repeat(64),
    );
    await refused(/64 hexadecimal digits/, 'images', 'import', path, ...image, '--sha256', 'abc');
    await world.opened.db.run(`update images set deprecated_at = now() where family = 'fedora'`);
    assert.match(await ok('images', 'list'), /^fedora-\S+ +img_\w+ +not imported +deprecated$/m);
    await refused(/image not found in the catalog/, 'images', 'import', path, '--image', 'windows');
    await refused(/either --image <name> or --rescue/, 'images', 'import', path);
    await refused(/either --image <name> or --rescue/, 'images', 'import', path, ...image, '--rescue');
    assert.deepEqual(await imports(), before);
    assert.deepEqual(await order('debian-13'), IMAGELESS);
  });
});
