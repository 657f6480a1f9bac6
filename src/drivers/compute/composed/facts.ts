/** Facts about the machines of all backends, and the checks that each makes itself. */
import { withTimeout } from '../../../kernel/timeout.ts';
import { type Fleet, LOCAL_BACKEND } from '../../../ports/backends.ts';
import { type ComputeDriver, ComputeError } from '../../../ports/compute.ts';
import type { BackendReading } from '../../../ports/host-facts.ts';
import type { BackendDriver } from './link.ts';
import type { BackendRegistry } from './registry.ts';

/** How long a backend may take; longer than its connection, so that it need not be connected yet. */
const PATIENCE_MS = 4_000;

export type FleetQuestions = Pick<Fleet, 'readFacts' | 'examine'>;

export interface FactsParts {
  readonly local: ComputeDriver;
  readonly registry: BackendRegistry;
}

type Answer = NonNullable<BackendReading['answer']>;

export function composeQuestions({ local, registry }: FactsParts): FleetQuestions {
  return {
    readFacts: async () => {
      const links = [...(await registry.links()).values()];
      const asked = links.map(async (link): Promise<BackendReading> => {
        const answer = await link.ask((driver) => measure(driver), PATIENCE_MS);
        return { backend: link.name, answer };
      });
      return await Promise.all([askLocal(local), ...asked]);
    },
    examine: (backend, expected) => {
      if (backend === LOCAL_BACKEND) return local.examine(expected);
      const link = registry.linkTo(backend);
      if (link === undefined) throw new ComputeError('transient', `backend ${backend} is not in use`);
      return link.driver.examine(expected);
    },
  };
}

async function askLocal(local: ComputeDriver): Promise<BackendReading> {
  return { backend: LOCAL_BACKEND, answer: await withTimeout(measure(local), PATIENCE_MS).catch(() => null) };
}

/** The host read its clock somewhere in the call, most likely in the middle. */
async function measure(driver: ComputeDriver & Pick<BackendDriver, 'protocol'>): Promise<Answer> {
  // This connects, so that the round trip is that of the call alone.
  const protocol = (await driver.protocol?.()) ?? null;
  const sentAt = Date.now();
  const startedAt = performance.now();
  const facts = (await driver.readFacts?.()) ?? null;
  const latencyMs = performance.now() - startedAt;
  const middle = sentAt + latencyMs / 2;
  const measured = facts?.map(({ time, ...rest }) => ({ ...rest, skewMs: time.getTime() - middle }));
  return { protocol, latencyMs, facts: measured ?? null };
}
