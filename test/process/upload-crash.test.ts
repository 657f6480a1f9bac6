/**
 * A process that is killed with SIGKILL during an image upload: after the restart files and images match
 * exactly.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CRASH_POINTS } from '../../src/kernel/crash.ts';
import { isoFile } from '../support/iso.ts';
import { FULL_ONLY, rotate } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, startSkerryd } from '../support/skerryd-process.ts';
import { createApiToken } from '../support/v1-client.ts';

const UPLOAD_POINTS = CRASH_POINTS.filter((point) => point.startsWith('upload.'));

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skerry-crash-'));
  // When root runs the tests, the database runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
});
after(async () => {
  killLeftovers();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
});

const environment = (dataDir: string) => ({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'warn' });

async function upload(url: string, token: string): Promise<Response> {
  const body = new FormData();
  body.set('file', new Blob([new Uint8Array(isoFile())]), 'a.iso');
  const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'crash-test' };
  return await fetch(`${url}/v1/images`, { method: 'POST', headers, body });
}

async function settle(url: string): Promise<void> {
  const response = await fetch(`${url}/sandbox/settle`, { method: 'POST', body: '{}' });
  assert.equal(response.status, 200, await response.text());
}

describe('a process killed with SIGKILL during an image upload', FULL_ONLY, () => {
  for (const point of rotate(UPLOAD_POINTS, { sample: 1, full: 2, soak: 1 })) {
    it(`keeps a file only for a committed image, and accepts a retry, at ${point}`, async () => {
      const dataDir = join(folder, point);
      const files = () => readdir(join(dataDir, 'images')).catch(() => []);
      const armed = await startSkerryd({ ...environment(dataDir), SKERRY_CRASH_AT: point });
      const customer = SessionClient.forUrl(armed.url);
      await customer.signUp();
      const token = await createApiToken(customer, 'write');
      await upload(armed.url, token).catch(() => undefined);
      assert.equal((await armed.ended).signal, 'SIGKILL', 'the process reached the crash point');

      const serving = await startSkerryd(environment(dataDir));
      try {
        await settle(serving.url);
        assert.equal((await files()).length, point === 'upload.image_committed' ? 1 : 0);
        const again = await upload(serving.url, token);
        assert.equal(again.status, 201);
        assert.equal(again.headers.get('idempotent-replayed') === 'true', point === 'upload.image_committed');
        await settle(serving.url);
        assert.equal((await files()).length, 1);
      } finally {
        assert.equal((await serving.stop()).code, 0);
      }
    });
  }
});
