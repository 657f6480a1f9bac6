/** The data of the order form. */
import type { CycleMonths } from '../../spec/limits.ts';
import type { FirewallGroup } from '../../spec/schemas/firewall.ts';
import type { Image } from '../../spec/schemas/image.ts';
import type { Plan, Region } from '../../spec/schemas/plan.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import type { ListedSshKey } from '../../spec/schemas/ssh-key.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import type { FormContext } from '../parts/form.ts';
import type { KeptOrder } from './kept-orders.ts';

export interface DeployData {
  readonly plans: readonly Plan[];
  /** IDs of plans that are sold only on request. */
  readonly onRequest: ReadonlySet<string>;
  readonly regions: readonly Region[];
  readonly images: readonly Image[];
  readonly snapshots: readonly Snapshot[];
  readonly keys: readonly ListedSshKey[];
  readonly groups: readonly FirewallGroup[];
  /** Those that no server has. */
  readonly volumes: readonly Volume[];
  /** The kept order that the form was opened from; null: none. */
  readonly draft: string | null;
  /** Those to continue instead. */
  readonly keptOrders: readonly KeptOrder[];
  /** The submitted values so far, by field. */
  readonly given: ReadonlyMap<string, string>;
  readonly chosen: { readonly plan: string | null; readonly region: string; readonly months: CycleMonths };
  readonly quote: DeployQuote | null;
  /** The monthly price of each plan in the chosen billing cycle. */
  readonly monthUsd: ReadonlyMap<string, number>;
  /** The regions that sell each plan, in stock or not. */
  readonly soldIn: ReadonlyMap<string, readonly string[]>;
  /** For a new order: none of the customer's servers has it. */
  readonly suggestedName: string;
  /** Why ordering is closed, or null. */
  readonly closed: string | null;
  readonly forms: FormContext;
}

/** Amounts in US dollars. */
export interface DeployQuote {
  readonly plan: string;
  readonly months: number;
  readonly discountPercent: number;
  /** The part of the total that is for backups. */
  readonly backupsUsd: number;
  readonly totalUsd: number;
  readonly perMonthUsd: number;
  readonly balanceUsd: number;
  readonly afterUsd: number;
  readonly waiting: { readonly servers: number; readonly usd: number };
  readonly missingUsd: number;
  /** Why the order would be refused, other than for the balance; null if it would not. */
  readonly problem: string | null;
}
