import type { CallOptions } from '../transport.ts';
import type { Balance } from '../types.ts';
import { Resource } from './resource.ts';

/** The prepaid balance (SPEC "Balance"). Scope: billing. */
export class Balances extends Resource {
  get(options?: CallOptions): Promise<Balance> {
    return this.transport.run((api, attempt) => api.GET('/billing/balance', attempt), options);
  }
}
