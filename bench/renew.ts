/**
 * The cost of billing: CPU of the process and the database per due server, for a backlog of a thousand and of
 * a hundred thousand, and the time of a sweep that finds nothing. All with a million servers.
 */
import { join } from 'node:path';
import { type OpenedService, openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { sweepCalendar } from '../src/domain/billing/sweep.ts';
import { DAY_MS } from '../src/kernel/time.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { renewJob } from '../src/workers/jobs.ts';
import { type Figure, median } from './figure.ts';
import { databaseCpuMicros } from './load.ts';

const SERVERS = 1_000_000;
const SERVERS_PER_CUSTOMER = 4;
const FEW = 1_000;
/** Servers renewed before the first round, to warm up plans, statements, and code. */
const WARM_UP = 1_000;
const MANY = 100_000;
const ROUNDS = 5;
const IDLE_RUNS = 50;
/** Makes servers `$2` to `$3` due in the past, one millisecond apart. */
const MAKE_DUE_SQL = `
  update servers
     set paid_until = $1::timestamptz - ($3::int - public_no) * interval '1 ms',
         bill_at = $1::timestamptz - ($3::int - public_no) * interval '1 ms'
   where public_no > $2::int and public_no <= $3::int`;

export async function benchRenew(folder: string): Promise<Figure[]> {
  const dataDir = join(folder, 'renew');
  const database = await startEmbedded({ dataDir });
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'error' });
  try {
    const opened = await openService(config, database.connection, { mayMigrate: true });
    try {
      await insertServers(opened);
      return await measure(opened);
    } finally {
      await opened.close();
    }
  } finally {
    await database.stop();
  }
}

async function measure(opened: OpenedService): Promise<Figure[]> {
  const idleMs = await timeIdleSweep(opened);
  await makeServersDue(opened, 0, WARM_UP);
  await cpuPerServer(opened, WARM_UP);
  const few: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await makeServersDue(opened, WARM_UP + round * FEW, WARM_UP + (round + 1) * FEW);
    few.push(await cpuPerServer(opened, FEW));
  }
  const many: number[] = [];
  await makeServersDue(opened, SERVERS - MANY, SERVERS);
  for (let round = 0; round < ROUNDS; round++) many.push(await cpuPerServer(opened, FEW));
  if (process.env.BENCH_VERBOSE) process.stderr.write(`${JSON.stringify({ few, many })}\n`);
  return [
    {
      name: 'billing: CPU per server, 100 k due ÷ 1 k due',
      ...{ value: median(many) / median(few), unit: '×', limit: 1.2, goal: 1.1, bound: 'max' },
    },
    {
      name: 'billing: a sweep that finds nothing in 1 M servers',
      ...{ value: idleMs, unit: 'ms', limit: 10, goal: 3, bound: 'max' },
    },
    {
      name: 'billing: a renewal, CPU of process and database',
      ...{ value: median(few) / 1_000, unit: 'ms', limit: 20, goal: 8, bound: 'max' },
    },
  ];
}

/** Returns the median time of an idle job run and its query for the next due time. */
async function timeIdleSweep({ service }: OpenedService): Promise<number> {
  const job = renewJob(service);
  const times: number[] = [];
  for (let run = 0; run < IDLE_RUNS; run++) {
    const startedAt = performance.now();
    if ((await job.run()) !== 0) throw new Error('a server is due');
    await job.nextDue();
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

async function makeServersDue({ db, clock }: OpenedService, from: number, to: number): Promise<void> {
  await db.run(MAKE_DUE_SQL, [new Date(clock.now().getTime() - DAY_MS), from, to]);
  // Do now what the database would do at some time: it is not a cost of renewing.
  await db.run('vacuum analyze');
  await db.run('checkpoint');
}

/**
 * Returns CPU microseconds of both per renewed server, including the low-balance checks that a charge causes.
 */
async function cpuPerServer({ service, db }: OpenedService, count: number): Promise<number> {
  const charges = async () =>
    Number((await db.row<{ n: bigint }>(`select count(*) as n from transfers where type = 'charge'`))?.n);
  const before = await charges();
  const database = await databaseCpuMicros(db);
  const cpu = process.cpuUsage();
  // Each server is renewed, and its customer's balance is checked because it changed.
  for (let left = 2 * count; left > 0; ) {
    const handled = await sweepCalendar(service);
    if (handled === 0) break;
    left -= handled;
  }
  const { user, system } = process.cpuUsage(cpu);
  const micros = user + system + (await databaseCpuMicros(db)) - database;
  const renewed = (await charges()) - before;
  if (renewed < count / 2) throw new Error(`only ${renewed} servers were renewed`);
  return micros / renewed;
}

/** Inserts customers who can pay, with running servers that are paid for eight more days. */
async function insertServers({ db }: OpenedService): Promise<void> {
  const customers = SERVERS / SERVERS_PER_CUSTOMER;
  await db.run('alter system set autovacuum = off');
  await db.run('select pg_reload_conf()');
  await db.transaction(async (tx) => {
    // Load the rows without checking foreign keys: there are too many.
    await tx.run('set local session_replication_role = replica');
    await tx.run('set local statement_timeout = 0');
    await tx.run(
      `insert into customers (id, public_no, email, email_key, password_hash, created_at)
       select ${customerIdSql('c')}, c + 1, c || '@example.org', c, '', now()
         from generate_series(0, $1::int - 1) as c`,
      [customers],
    );
    await tx.run(
      `insert into balances (customer_id, balance_cents, servers)
       select ${customerIdSql('c')}, 1000000000, $2 from generate_series(0, $1::int - 1) as c`,
      [customers, SERVERS_PER_CUSTOMER],
    );
    await tx.run(`insert into regions values ('aaa', 'aaa', 'aaa', 'FR', 'aaa')`);
    await tx.run(`insert into plans values ('s1', 'vps', 1, 'bench', 1024, 10, 1, 500, true)`);
    const image = `'b0000000-0000-0000-0000-000000000000'::uuid`;
    await tx.run(
      `insert into images values (${image}, 'official', 'debian', '13', null, '{amd64}', 1, true, now())`,
    );
    await tx.run(
      `insert into servers (id, public_no, customer_id, name, status, plan_id, region_id, image_id,
                            ram_mb, disk_gb, billing_months, price_cents_month, price_cents_cycle, anchor_day,
                            paid_until, bill_at, auto_renew, first_run_at, created_at, updated_at)
       select new_id(now()), i, ${customerIdSql(`(i % ${customers})`)}, 'n' || i, 'running', 's1', 'aaa',
              ${image}, 1024, 10, 1, 500, 500, 15, at, at - interval '7 days', true, now(), now(), now()
         from (select i, now() + interval '8 days' + i * interval '1 second' as at
                 from generate_series(1, $1::int) as i) as numbered`,
      [SERVERS],
    );
  });
  await db.run('vacuum analyze');
}

function customerIdSql(c: string): string {
  return `('c' || lpad(to_hex(${c}), 31, '0'))::uuid`;
}
