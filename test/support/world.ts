/** The real app on a real database, with simulated drivers and a clock that the test moves. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningService, startService } from '../../src/compose/serve.ts';
import { loadConfig } from '../../src/config.ts';
import { credit } from '../../src/domain/ledger/transfer.ts';
import type { SimulatorControl } from '../../src/drivers/compute/simulator/control.ts';
import { CHEAP_PASSWORDS } from './cheap-passwords.ts';
import { createSandboxDatabase } from './sandbox-database.ts';
import { SessionClient } from './session-client.ts';

export interface World extends RunningService {
  readonly url: string;
  /** Control of the simulated machines; fails the test if the machines are real. */
  readonly simulator: SimulatorControl;
  /** Returns a client without a session. */
  visitor(): SessionClient;
  /** Signs up a customer with this balance, paid for on a simulated chain. */
  customer(balanceUsd?: number): Promise<SessionClient>;
  /** Adds money to a customer's balance, as the operator would. */
  addBalance(customer: SessionClient, cents: bigint): Promise<void>;
  /** Calls `POST /sandbox/<name>`; fails the test unless the response is 200. */
  sandbox(name: string, body?: object): Promise<Record<string, unknown>>;
  /** Waits until no work is due. */
  settle(): Promise<void>;
  /** Moves the clock, stopping at each due time. */
  advance(seconds: number): Promise<void>;
  close(): Promise<void>;
}

export async function startWorld(settings: Readonly<Record<string, string>> = {}): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-world-'));
  const config = loadConfig({
    SKERRY_PORT: '0',
    SKERRY_DATA_DIR: dataDir,
    SKERRY_LOG_LEVEL: 'silent',
    SKERRY_SIM_BLOCK_S: '0',
    SKERRY_SIM_INSTALL_S: '0.2',
    ...settings,
  });
  const scratch = await createSandboxDatabase(config);
  const running = await startService(config, scratch.connection, { passwordCost: CHEAP_PASSWORDS });
  const url = running.url ?? '';
  const sandbox = async (name: string, body: object = {}) => {
    const response = await fetch(`${url}/sandbox/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`/sandbox/${name}: ${response.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const world: World = {
    ...running,
    url,
    get simulator() {
      return running.opened.simulation?.compute ?? assert.fail('this world has no simulated machines');
    },
    sandbox,
    visitor: () => SessionClient.forUrl(url),
    customer: async (balanceUsd = 0) => {
      const customer = SessionClient.forUrl(url);
      await customer.signUp();
      if (balanceUsd > 0) await topUpInSteps(world, customer, balanceUsd);
      return customer;
    },
    addBalance: (customer, cents) => addBalance(running, customer, cents),
    settle: async () => {
      await sandbox('settle');
    },
    advance: async (seconds) => {
      await sandbox('clock', { advance_s: seconds });
    },
    close: async () => {
      await running.stop();
      await scratch.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return world;
}

async function addBalance(
  { opened }: RunningService,
  customer: SessionClient,
  amountCents: bigint,
): Promise<void> {
  const { db, clock } = opened;
  const row = await db.row<{ id: string }>('select id from customers where email = $1', [customer.email]);
  if (!row) throw new Error('customer not found');
  const adjustment = { customerId: row.id, amountCents, fact: `test:${randomUUID()}`, description: 'a gift' };
  await credit(db, { ...adjustment, account: 'adjustments', type: 'adjustment' }, clock.now());
}

/** Tops up to a balance of `balanceUsd`, in steps below the first bonus tier. */
async function topUpInSteps(world: World, customer: SessionClient, balanceUsd: number): Promise<void> {
  let remaining = balanceUsd;
  while (remaining > 0) {
    const amount = remaining > 99 ? Math.min(99, remaining - 30) : remaining;
    await topUp(world, customer, amount);
    remaining = Math.round((remaining - amount) * 100) / 100;
  }
}

/** Creates an invoice, pays it in full, and mines until it is credited. At least 30 US dollars. */
export async function topUp(
  world: Pick<World, 'sandbox' | 'settle'>,
  customer: SessionClient,
  amount: number,
  coin = 'LTC',
): Promise<string> {
  const created = await customer.post('/topup-api.php', { action: 'create', amount, coin });
  const ref = String(created.body.order_ref);
  const { body } = await customer.get(`/topup-status.php?ref=${ref}`);
  await world.sandbox('payments', { coin, address: body.deposit_address, amount: body.deposit_amount });
  await world.sandbox('blocks', { coin, count: 30 });
  await world.settle();
  return ref;
}
