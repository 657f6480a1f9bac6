/**
 * Worlds for lifecycle tests: customers with a token and an SSH key, one after another, in a service with one
 * clock.
 */
import assert from 'node:assert/strict';
import { checkInvariants } from '../../src/domain/verify/verify.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { CustomerModel } from './model.ts';
import { RealCustomer } from './real-customer.ts';
import { COINS } from './rules.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
/** Then starts with a new database: the clock is decades ahead, and deleted resources have accumulated. */
const CUSTOMERS_PER_WORLD = 25;
/** The initial balance of every customer: enough for a few small servers. */
const INITIAL_BALANCE_CENTS = 6_000n;
const SETTINGS = {
  SKERRY_RATE_CAPACITY: '1000000',
  SKERRY_RATE_REFILL_PER_S: '1000000',
  SKERRY_PROVISION_RATE_CAPACITY: '1000000',
  SKERRY_PROVISION_RATE_REFILL_PER_S: '1000000',
  SKERRY_SIM_INSTALL_S: '2',
};

export interface LifecycleWorld {
  startCustomer(lengthMs: number): Promise<{ model: CustomerModel; real: RealCustomer }>;
  /**
   * Starts counting database connections (one per statement or transaction). The returned function stops and
   * counts.
   */
  countStatements(): () => number;
  close(): Promise<void>;
}

export async function startLifecycleWorld(): Promise<LifecycleWorld> {
  let world: World | undefined;
  let customerCount = 0;
  const close = async () => {
    if (world === undefined) return;
    const findings = await checkInvariants(world.opened.db);
    const broken = findings.filter((finding) => finding.broken > 0n);
    await world.close();
    world = undefined;
    assert.deepEqual(broken, []);
  };
  return {
    close,
    countStatements: () => {
      const pool = world?.opened.db.pool;
      let count = 0;
      const onAcquire = () => {
        count += 1;
      };
      pool?.on('acquire', onAcquire);
      return () => {
        pool?.off('acquire', onAcquire);
        return count;
      };
    },
    startCustomer: async (lengthMs) => {
      if (customerCount++ % CUSTOMERS_PER_WORLD === 0) await close();
      world ??= await startWorld(SETTINGS);
      const real = await createRealCustomer(world);
      const model = new CustomerModel(world.opened.clock.now().getTime(), lengthMs);
      for (const [coin, { usd }] of Object.entries(COINS)) await real.sandbox('rates', { coin, usd });
      await real.addBalance(INITIAL_BALANCE_CENTS);
      model.adjustBalance(INITIAL_BALANCE_CENTS);
      await real.advance(model);
      return { model, real };
    },
  };
}

export async function createRealCustomer(world: World): Promise<RealCustomer> {
  const customer = await world.customer();
  const token = await createApiToken(customer);
  const api = V1Client.forApp(world.http, token);
  const image = (await api.get('/images?family=debian')).body.data.find(
    (candidate: { version: string }) => candidate.version === '13',
  );
  const key = await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
  assert.equal(key.status, 201, key.text);
  return new RealCustomer(world, customer, { token, imageId: image.id, keyId: key.body.id });
}

/**
 * Destroys the customer's remaining servers, so the next customer starts with free capacity, then compares
 * everything.
 */
export async function finishCustomer(model: CustomerModel, real: RealCustomer): Promise<void> {
  for (const server of model.activeServers) {
    assert.equal((await real.api.delete(`/servers/${server.id}`)).status, 202);
    model.destroy(server);
  }
  await real.advance(model);
  await real.compareFinal(model);
}
