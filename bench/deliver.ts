/**
 * The cost of a webhook from the queue to the record, compared with a loop that signs and posts the same body
 * with undici to the same receiver. Measures CPU of the sending process, without and with the database's CPU.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { createAuthority } from '../test/support/certificates.ts';
import { type Figure, median } from './figure.ts';
import { startPeer } from './load.ts';

const WARMUP_ROUNDS = 2;
const ROUNDS = 7;

interface Cost {
  readonly own: number;
  readonly database: number;
  readonly ms: number;
}

export async function benchDeliver(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'deliver') });
  const db = openDatabase(database.connection, { poolSize: 2 });
  const files = writeCertificates(folder);
  const receiver = await startPeer('./deliver-receiver.ts', [files.cert, files.key]);
  const senders: ChildProcess[] = [];
  try {
    await migrate(db);
    const start = async (variant: string) => {
      const connection = JSON.stringify(database.connection);
      const sender = await startSender([variant, receiver.url, files.ca, connection]);
      senders.push(sender);
      return sender;
    };
    const [bare, ours] = [await start('bare'), await start('ours')];
    return await measure(bare, ours);
  } finally {
    for (const sender of senders) sender.kill();
    await receiver.stop();
    await db.close();
    await database.stop();
  }
}

async function measure(bare: ChildProcess, ours: ChildProcess): Promise<Figure[]> {
  const senderRatios: number[] = [];
  const totalRatios: number[] = [];
  for (let n = 0; n < WARMUP_ROUNDS + ROUNDS; n++) {
    const [bareCost, ownCost] = [await runRound(bare), await runRound(ours)];
    if (process.env.BENCH_VERBOSE) {
      const [bareCpu, bareMs] = [bareCost.own, bareCost.ms].map((value) => value.toFixed(0));
      const [cpu, databaseCpu, ms] = [ownCost.own, ownCost.database, ownCost.ms].map((value) =>
        value.toFixed(0),
      );
      process.stderr.write(`bare ${bareCpu} µs ${bareMs} ms; ours ${cpu} + ${databaseCpu} µs ${ms} ms\n`);
    }
    if (n < WARMUP_ROUNDS) continue;
    senderRatios.push(bareCost.own / ownCost.own);
    totalRatios.push(bareCost.own / (ownCost.own + ownCost.database));
  }
  const unit = '×';
  const bound = 'min';
  return [
    {
      name: 'delivery ÷ bare signed POST',
      value: median(senderRatios),
      unit,
      limit: 0.65,
      goal: 0.8,
      bound,
    },
    {
      name: 'delivery, with the database ÷ bare',
      value: median(totalRatios),
      unit,
      limit: 0.5,
      goal: 0.65,
      bound,
    },
  ];
}

export function writeCertificates(folder: string): { ca: string; cert: string; key: string } {
  const authority = createAuthority();
  const own = authority.issue(['127.0.0.1']);
  const files = { ca: join(folder, 'ca.pem'), cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.ca, authority.cert);
  writeFileSync(files.cert, own.cert);
  writeFileSync(files.key, own.key);
  return files;
}

async function startSender(args: readonly string[]): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('./deliver-sender.ts', import.meta.url)), args);
  await nextMessage(child);
  return child;
}

async function runRound(sender: ChildProcess): Promise<Cost> {
  const reply = nextMessage(sender);
  sender.send('go');
  return (await reply) as Cost;
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error('a sender exited before it replied'));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}
