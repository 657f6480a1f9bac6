/**
 * A plain model of the customers: their resources, and the payments that they owe. Only acknowledged changes
 * are in it. It shares no code with the service.
 */
import type { Months, Plan } from '../../lifecycle/rules.ts';

export interface ModelServer {
  /** Null until it is known: a form answers with another number. */
  id: string | null;
  readonly name: string | null;
  readonly plan: Plan;
  readonly months: Months;
  /** By the last acknowledged operation. */
  status: 'running' | 'stopped';
  newName: string | null;
  isDeleted: boolean;
}

export interface ModelVolume {
  readonly id: string;
  readonly name: string;
  sizeGb: number;
  server: ModelServer | null;
  isDeleted: boolean;
}

export interface ModelSnapshot {
  readonly id: string;
  readonly server: ModelServer;
  isDeleted: boolean;
}

export interface ModelTopup {
  readonly id: string | null;
  readonly coin: string;
  readonly address: string;
  readonly amount: string;
  readonly cents: bigint;
}

export interface ModelCustomer {
  readonly index: number;
  email: string;
  cookie: string;
  csrf: string;
  token: string;
  imageId: string;
  keyId: string;
  webhookId: string;
  readonly servers: ModelServer[];
  readonly volumes: ModelVolume[];
  readonly snapshots: ModelSnapshot[];
  readonly topups: ModelTopup[];
}

export class Model {
  readonly customers: ModelCustomer[] = [];
  /** Acknowledged changes. */
  acknowledged = 0;

  customer(index: number): ModelCustomer | undefined {
    return this.customers.find((customer) => customer.index === index);
  }

  add(index: number): ModelCustomer {
    const customer: ModelCustomer = {
      ...{ index, email: '', cookie: '', csrf: '', token: '', imageId: '', keyId: '', webhookId: '' },
      ...{ servers: [], volumes: [], snapshots: [], topups: [] },
    };
    this.customers.push(customer);
    return customer;
  }
}

export function live<T extends { readonly isDeleted: boolean }>(items: readonly T[]): T[] {
  return items.filter(({ isDeleted }) => !isDeleted);
}
