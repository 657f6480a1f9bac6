/** A process that creates an invoice or polls the chains once, and dies at the given place. */
import { createSeams } from '../../src/compose/seams.ts';
import type { Actor } from '../../src/domain/context.ts';
import { createTopup } from '../../src/domain/topups/create.ts';
import type { ConnectionSettings } from '../../src/store/db.ts';
import { watchJob } from '../../src/workers/watch.ts';
import { createSimnetService } from './simnet-service.ts';
import { TopupWorld } from './topup-world.ts';

interface Task {
  readonly connection: ConnectionSettings;
  readonly crashAt: string;
  /** Creates an invoice for this customer; null: polls the chains. */
  readonly customer: (Actor & { readonly customerId: string }) | null;
}

const { connection, crashAt, customer } = JSON.parse(process.argv[2] ?? '') as Task;
const world = TopupWorld.attach(connection);
const simnet = createSimnetService(world).service;
const seams = createSeams(crashAt);
const chains = [...simnet.chains].map(([coin, chain]) => [coin, seams.port(coin, chain)] as const);
const service = { ...simnet, db: seams.database(simnet.db), chains: new Map(chains) };
if (customer) await createTopup(service, customer, { coin: 'BTC', amountCents: 10_000n });
else await watchJob(service, { leaseMs: 1, runWaitMaxMs: 10_000 }).run();
await world.close();
