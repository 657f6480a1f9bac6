/**
 * An upload of 4 GiB from another process, compared with writing the same amount to the same disk and with
 * hashing it. `node bench/upload.ts 512` measures 512 MiB and prints all speeds.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isoFile } from '../test/support/iso.ts';
import { SessionClient } from '../test/support/session-client.ts';
import { startSkerryd } from '../test/support/skerryd-process.ts';
import { createApiToken } from '../test/support/v1-client.ts';
import type { Figure } from './figure.ts';

const MIB = 1024 ** 2;
const BOUNDARY = 'bench-7d1f';
const SAMPLE_EVERY_MS = 50;
const WARMUP_MIB = 32;

interface Measured {
  readonly diskMibPerS: number;
  readonly sha256MibPerS: number;
  readonly uploadMibPerS: number;
  readonly grownMib: number;
}

export async function benchUpload(folder: string, sizeMib = 4_096): Promise<Figure[]> {
  const measured = await measure(folder, sizeMib);
  const slower = Math.min(measured.diskMibPerS, measured.sha256MibPerS);
  return [
    {
      name: `upload of ${sizeMib} MiB ÷ the slower of disk and SHA-256`,
      value: measured.uploadMibPerS / slower,
      unit: '×',
      limit: 0.6,
      goal: 0.9,
      bound: 'min',
    },
    {
      name: 'memory growth during the upload',
      value: measured.grownMib,
      unit: 'MiB',
      limit: 64,
      goal: 32,
      bound: 'max',
    },
  ];
}

async function measure(folder: string, sizeMib: number): Promise<Measured> {
  const dataDir = join(folder, 'upload');
  const serving = await startSkerryd({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'warn' });
  try {
    const customer = SessionClient.forUrl(serving.url);
    await customer.signUp();
    const token = await createApiToken(customer, 'write');
    await upload(serving.url, token, WARMUP_MIB);
    // Disk speed varies, so measure it before and after.
    const before = await measureDiskWrite(dataDir, sizeMib);
    const rss = await watchMemory(serving.pid);
    const uploadMibPerS = await upload(serving.url, token, sizeMib);
    const grownMib = await rss.grownMib();
    const after = await measureDiskWrite(dataDir, sizeMib);
    const diskMibPerS = (before + after) / 2;
    return { diskMibPerS, sha256MibPerS: measureHash(sizeMib), uploadMibPerS, grownMib };
  } finally {
    await serving.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function mibPerSecond(sizeMib: number, startedAt: number): number {
  return sizeMib / ((performance.now() - startedAt) / 1_000);
}

async function measureDiskWrite(dataDir: string, sizeMib: number): Promise<number> {
  const path = join(dataDir, 'disk-test');
  const block = Buffer.alloc(MIB, 7);
  const startedAt = performance.now();
  const file = await open(path, 'w');
  for (let n = 0; n < sizeMib; n++) await file.write(block);
  await file.sync();
  await file.close();
  const speed = mibPerSecond(sizeMib, startedAt);
  await rm(path);
  return speed;
}

function measureHash(sizeMib: number): number {
  const block = Buffer.alloc(MIB, 7);
  const startedAt = performance.now();
  const hash = createHash('sha256');
  for (let n = 0; n < sizeMib; n++) hash.update(block);
  hash.digest();
  return mibPerSecond(sizeMib, startedAt);
}

/** Sends an image over a bare socket, waits for the 201 response, and returns the speed. */
async function upload(url: string, token: string, sizeMib: number): Promise<number> {
  const { hostname, port } = new URL(url);
  const first = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.iso"\r\n\r\n`;
  const last = `\r\n--${BOUNDARY}--\r\n`;
  const head = [
    'POST /v1/images HTTP/1.1',
    `Host: ${hostname}`,
    `Authorization: Bearer ${token}`,
    `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
    `Content-Length: ${first.length + sizeMib * MIB + last.length}`,
    'Connection: close',
  ];
  const startedAt = performance.now();
  const socket = connect(Number(port), hostname);
  let response = '';
  const responded = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk) => {
      response += chunk.toString('latin1');
      if (response.includes('\r\n\r\n')) resolve();
    });
    socket.on('error', reject).on('close', () => reject(new Error(`no response: ${response}`)));
  });
  const send = async (bytes: string | Buffer) => {
    if (!socket.write(bytes))
      await Promise.race([new Promise((done) => socket.once('drain', done)), responded]);
  };
  await send(`${head.join('\r\n')}\r\n\r\n${first}`);
  await send(isoFile(MIB, 7));
  const block = Buffer.alloc(MIB, 7);
  for (let n = 1; n < sizeMib; n++) await send(block);
  await send(last);
  await responded;
  const speed = mibPerSecond(sizeMib, startedAt);
  socket.destroy();
  if (!response.startsWith('HTTP/1.1 201 ')) throw new Error(`the upload failed: ${response}`);
  return speed;
}

/** Starts sampling the resident memory of a process. */
async function watchMemory(pid: number): Promise<{ grownMib(): Promise<number> }> {
  const residentMib = async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  };
  const initialMib = await residentMib();
  let peakMib = initialMib;
  const sample = async () => {
    peakMib = Math.max(peakMib, await residentMib());
  };
  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  return {
    grownMib: async () => {
      clearInterval(timer);
      await sample();
      return peakMib - initialMib;
    },
  };
}

if (import.meta.main) {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-bench-'));
  try {
    const measured = await measure(folder, Number(process.argv[2] ?? 4_096));
    for (const [name, value] of Object.entries(measured))
      process.stdout.write(`${name} ${value.toFixed(1)}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
