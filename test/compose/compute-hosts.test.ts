/** `SKERRY_COMPUTE=hosts`: a live service on a machine that is no host. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { after, describe, it } from 'node:test';
import { createQemuCompute } from '../../src/compose/drivers.ts';
import { createHostRegistrar } from '../../src/compose/seed.ts';
import { startService } from '../../src/compose/serve.ts';
import { loadConfig } from '../../src/config.ts';
import { createLogger } from '../../src/kernel/logger.ts';
import { createScratchDatabase } from '../support/database.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const folder = scratchFolder();
const LIVE = loadConfig({
  SKERRY_MODE: 'live',
  SKERRY_COMPUTE: 'hosts',
  // Ignored: they are settings of a host.
  SKERRY_QEMU_HOSTS: 'par-1',
  SKERRY_QEMU_PEER_ADDRESS: 'par-1.example:7444',
  SKERRY_PORT: '0',
  SKERRY_DATA_DIR: folder,
  SKERRY_LOG_LEVEL: 'silent',
  DATABASE_URL: 'postgres://u:p@127.0.0.1/elsewhere',
});

describe('a service on a machine that is no host', () => {
  after(() => rm(folder, { recursive: true, force: true }));

  it('has real machines, none of them here, and examines what images need', async () => {
    const compute = createQemuCompute(LIVE, createLogger('silent')) ?? assert.fail('simulated');
    assert.deepEqual([compute.name, compute.hosts], ['qemu', []]);
    assert.deepEqual(await compute.superviseMachines(['203.0.113.0/28']), []);
    assert.equal((await compute.list()).length, 0);
    const expected = { ramMb: 0, diskGb: 0, unusedAddresses: [] };
    const subjects: string[] = [];
    for await (const { subject } of compute.examine(expected)) subjects.push(subject);
    assert.deepEqual([...new Set(subjects)], ['machines', 'programs', 'space']);
  });

  it('serves, keeps the disks of images, and refuses to be added as a host', async () => {
    const scratch = await createScratchDatabase();
    const running = await startService(LIVE, scratch.connection, { roles: new Set(['api']) });
    try {
      assert.equal((await fetch(`${running.url}/readyz`)).status, 200);
      const { service } = running.opened;
      assert.notEqual(service.compute.images, null);
      const register = createHostRegistrar(service, null);
      const host = { name: 'par-1', cpu: 1, ramMb: 1024, diskGb: 10 };
      await assert.rejects(register([host], 'vps'), /^OperatorError: SKERRY_COMPUTE=hosts: .*hosts invite/);
      assert.equal(existsSync(`${folder}/qemu/machines`), false);
    } finally {
      await running.stop();
      await scratch.drop();
    }
  });
});
