/** How the driver reads answers of QEMU, and missing answers in particular. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { qmpSocketArg } from '../../../../src/drivers/compute/qemu/processes.ts';
import { Qmp, QmpUnresponsiveError } from '../../../../src/drivers/compute/qemu/qmp.ts';

const ANSWER_MAX_MS = 50;

describe('QMP', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-qmp-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function withServer(
    serve: (client: Socket) => void,
    work: (path: string) => Promise<void>,
  ): Promise<void> {
    const path = join(folder, 'qmp');
    const clients: Socket[] = [];
    const server: Server = createServer((client) => {
      clients.push(client.on('error', () => undefined));
      serve(client);
    }).listen(path);
    await once(server, 'listening');
    try {
      await work(path);
    } finally {
      for (const client of clients) client.destroy();
      server.close();
      await once(server, 'close');
    }
  }

  it('a QEMU that accepts a connection and says nothing is unresponsive, not gone', async () => {
    await withServer(
      () => undefined,
      (path) => assert.rejects(Qmp.tryConnect(path, ANSWER_MAX_MS), QmpUnresponsiveError),
    );
  });

  it('a QEMU that sends invalid data is unresponsive, not gone', async () => {
    await withServer(
      (client) => client.write('no JSON\n'),
      (path) => assert.rejects(Qmp.tryConnect(path, ANSWER_MAX_MS), QmpUnresponsiveError),
    );
  });

  it('a QEMU that stops answering later fails only the current command', async () => {
    const serve = (client: Socket) => client.once('data', () => client.write('{"return":{}}\n'));
    await withServer(serve, async (path) => {
      const qmp = (await Qmp.tryConnect(path, ANSWER_MAX_MS)) ?? assert.fail('no connection');
      await assert.rejects(qmp.execute('query-status'), QmpUnresponsiveError);
    });
  });

  it('a QEMU that exits during the handshake is gone, and so is one without a socket', async () => {
    const serve = (client: Socket) => client.once('data', () => client.destroy());
    await withServer(serve, async (path) => assert.equal(await Qmp.open(path), undefined));
    assert.equal(await Qmp.open(join(folder, 'missing')), undefined);
  });

  it('a QEMU whose socket was deleted is not gone while its process runs', async () => {
    const path = join(folder, 'deleted');
    const live = 'console.log(1); setInterval(() => {}, 1000)';
    const words = ['-e', live, '--', '-name', 'srv/1/disk', qmpSocketArg(path)];
    const qemu = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      await once(qemu.stdout, 'data');
      await assert.rejects(Qmp.open(path), QmpUnresponsiveError);
    } finally {
      qemu.kill('SIGKILL');
      await once(qemu, 'exit');
    }
    assert.equal(await Qmp.open(path), undefined);
  });
});
