/** Reads the backup policies of servers that have `backups` in the file, and the prices of new ones. */
import type { BackupPolicy, Server, Skerry } from '@skerry/sdk';
import pMap from 'p-map';
import { nullIf } from '../find.ts';
import { type BillingMonths, type Desired, isWanted, type WantedServer } from './desired.ts';
import { PROJECT_LABEL } from './labels.ts';

const CONCURRENCY = 5;

export type ActualBackups = Omit<BackupPolicy, 'object' | 'server' | 'window' | 'last'>;

export interface BackupsAndPrices {
  /** By server ID. Fetched for servers that have `backups` in the file. */
  readonly backups: ReadonlyMap<string, ActualBackups>;
  /** By `orderKey`: the price of the first cycle of an order with backups. */
  readonly pricesWithBackups: ReadonlyMap<string, number>;
}

type ListedServer = Pick<Server, 'id' | 'name' | 'plan' | 'region' | 'labels' | 'billing_months'>;

interface Given {
  readonly servers: readonly ListedServer[];
  readonly signal: AbortSignal;
}

export async function fetchBackups(
  skerry: Skerry,
  { servers: wanted = [], project }: Desired,
  { servers, signal }: Given,
): Promise<BackupsAndPrices> {
  const backups = new Map<string, ActualBackups>();
  const pricesWithBackups = new Map<string, number>();
  const stated = wanted.filter(isWanted).filter((one) => one.backups !== undefined);
  const namesakes = ({ name }: WantedServer) =>
    servers.filter((one) => one.name === name && one.labels[PROJECT_LABEL] === project);
  const readPolicy = async ({ id }: ListedServer) => {
    const policy = await nullIf('not_found', skerry.backupPolicies.get(id, { signal }));
    if (policy) backups.set(id, policy);
  };
  await pMap(stated.flatMap(namesakes), readPolicy, { concurrency: CONCURRENCY });
  for (const server of stated) {
    for (const months of orderedMonths(server, namesakes(server))) {
      const { plan, region } = server;
      const key = orderKey(plan, region, months);
      if (pricesWithBackups.has(key)) continue;
      const params = { plan, region, billing_months: months, backups: {} };
      const { total_usd: usd } = await skerry.quotes.create(
        { operation: 'server.create', params },
        { signal },
      );
      // An unknown plan has no price.
      if (usd !== null) pricesWithBackups.set(key, usd);
    }
  }
  return { backups, pricesWithBackups };
}

/** The price does not depend on the schedule. */
export function orderKey(plan: string, region: string, months: number): string {
  return `${plan} ${region} ${months}`;
}

/** The cycles that the order of a server may have: none if a server exists that stays. */
function orderedMonths(
  { plan, region, billingMonths, backups }: WantedServer,
  namesakes: readonly ListedServer[],
): Iterable<BillingMonths> {
  const stays = namesakes.some((one) => one.region === region && one.plan === plan);
  if (stays || backups?.enabled === false) return [];
  if (billingMonths !== undefined || namesakes.length === 0) return [billingMonths ?? 1];
  return new Set(namesakes.map(({ billing_months: months }) => months as BillingMonths));
}
