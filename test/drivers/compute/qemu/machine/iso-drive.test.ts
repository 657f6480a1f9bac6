/** ISO images in real machines: the guest sees the medium change, and boots it. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { UPLOADS_GID } from '../../../../../src/drivers/compute/qemu/machine/isolation.ts';
import { withQmp } from '../../../../../src/drivers/compute/qemu/qmp.ts';
import { readRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import { type IsoDrive, type MachineSpec, MissingFile } from '../../../../../src/ports/compute.ts';
import { machineSpec } from '../../compute-world.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from '../support/qemu-world.ts';

const FIRST = 'a'.repeat(64);
const SECOND = 'b'.repeat(64);
/** Less than a kernel. */
const SYSTEM_BYTES = 4 * 1024 ** 2;

describe('the drive of the QEMU driver for ISO images', REAL_MACHINES, () => {
  let world: QemuWorld;
  let spec: MachineSpec;
  let upload = '';
  before(async () => {
    world = await qemuWorld();
    spec = machineSpec({ id: 'srv_one', host: world.hosts[0], ...world.machine, diskGb: 1 });
    upload = join(world.host.layout.dir, 'upload');
    await copyFile(world.tiny.iso, upload);
    await world.driver.ensure(spec);
    await until('running');
  });
  after(() => world.close());

  async function until(state: string): Promise<void> {
    await world.eventually(async () => (await world.driver.observe([spec.id]))[0]?.state === state);
  }
  async function insert(sha256: string, boot: IsoDrive['boot'] = 'disk'): Promise<void> {
    await world.driver.setIso(spec.id, { iso: { path: upload, sha256 }, boot });
  }
  const eject = () => world.driver.setIso(spec.id, { iso: null, boot: 'disk' });
  /** The label of the ISO image in the second drive; the guest notices a change when it reads it. */
  async function seesLabel(expected: string): Promise<void> {
    const command = 'dd if=/dev/sr1 bs=1 skip=32808 count=4 2>/dev/null; true';
    await world.eventually(async () => (await world.ssh(spec.id, command)).trim() === expected);
  }
  const copyOf = (sha256: string) => world.host.layout.machine(spec.id, `iso-${sha256}.iso`);

  /** Whether the firmware of this QEMU loaded a system from the drive, which is more than its label. */
  async function hasBootedIso(): Promise<boolean> {
    const drives = await withQmp(world.host, spec.id, async (qmp) =>
      qmp?.execute<{ qdev?: string; stats: { rd_bytes: number } }[]>('query-blockstats'),
    );
    const drive = drives?.find(({ qdev }) => qdev?.endsWith('dev-iso'));
    return (drive?.stats.rd_bytes ?? 0) > SYSTEM_BYTES;
  }

  it('a running guest sees an image that is inserted, replaced, and ejected', async () => {
    await seesLabel('');
    for (const _ of ['once', 'again']) await insert(FIRST);
    await seesLabel('TINY');
    const file = await stat(copyOf(FIRST));
    assert.deepEqual([file.uid, file.gid, file.mode & 0o777], [0, UPLOADS_GID, 0o640]);
    await insert(SECOND);
    await seesLabel('TINY');
    assert.deepEqual([existsSync(copyOf(FIRST)), existsSync(copyOf(SECOND))], [false, true]);
    for (const _ of ['once', 'again']) await eject();
    await seesLabel('');
    assert.equal(existsSync(copyOf(SECOND)), false);
    assert.equal((await readRecord(world.host.layout, spec.id))?.drive, undefined);
  });

  it('an image that is not on the host is refused, and changes nothing', async () => {
    const iso = { path: join(world.host.layout.dir, 'nothing'), sha256: FIRST };
    await assert.rejects(world.driver.setIso(spec.id, { iso, boot: 'disk' }), MissingFile);
    assert.equal((await readRecord(world.host.layout, spec.id))?.drive, undefined);
  });

  it('the next reset boots the image or the disk, as was set while the guest ran', async () => {
    await insert(FIRST, 'iso');
    assert.equal(await hasBootedIso(), false);
    await world.driver.power(spec.id, 'reset');
    await world.eventually(hasBootedIso);
    await insert(FIRST, 'disk');
    await world.driver.power(spec.id, 'off');
    await world.driver.power(spec.id, 'on');
    await seesLabel('TINY');
    assert.equal(await hasBootedIso(), false);
  });

  it('a machine that is off takes an image and boots it, but not before its rescue system', async () => {
    await world.driver.power(spec.id, 'off');
    await eject();
    await insert(SECOND, 'iso');
    await until('stopped');
    await world.driver.power(spec.id, 'on');
    await world.eventually(hasBootedIso);
    await world.driver.rescue(spec.id, { passwordHash: '$6$salt$hash' });
    await until('running');
    for (const boot of ['disk', 'iso'] as const) await insert(SECOND, boot);
    assert.equal(await hasBootedIso(), false);
  });

  it('a rebuild keeps the image in the drive and boots the new disk', async () => {
    await world.driver.rebuild({ ...spec, generation: 2 });
    await until('running');
    await seesLabel('TINY');
    const { drive } = (await readRecord(world.host.layout, spec.id)) ?? assert.fail('no record');
    assert.deepEqual(drive, { sha256: SECOND, boots: false });
  });
});
