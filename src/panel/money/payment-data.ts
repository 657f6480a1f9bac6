/** The data of a top-up's page. */
import type { Topup } from '../../spec/schemas/topup.ts';
import type { ReversalFate, SessionTopupStatus } from '../../spec/states.ts';
import type { FormContext } from '../parts/form.ts';
import type { KeptOrder } from '../servers/kept-orders.ts';

export interface PaymentData {
  readonly topup: Topup;
  readonly status: SessionTopupStatus;
  readonly parts: readonly {
    readonly txid: string;
    readonly amount: string;
    readonly state: 'seen' | 'confirming' | 'credited' | 'held' | 'refunded' | 'gone';
    readonly confirmations: number;
    readonly late: boolean;
    readonly rate_usd: string | null;
    readonly credited_usd: number | null;
    readonly first_seen_at: string;
  }[];
  readonly more_parts: number;
  readonly received: string | null;
  readonly received_usd: number;
  readonly bonus_paid_usd: number;
  readonly missing: { readonly usd: number; readonly amount: string | null } | null;
  readonly over_usd: number;
  readonly taken_back: {
    readonly usd: number;
    readonly at: string;
    readonly fate: ReversalFate;
  } | null;
  readonly counts_until: string;
  readonly left_ms: number;
  /** When the locked rate expires by the visitor's own clock, for scripts. */
  readonly left_until: string;
  /** URL of a transaction in a block explorer; null: the operator set none for this network. */
  readonly explorer: ((txid: string) => string) | null;
  /** Those that the customer can continue. */
  readonly orders: readonly KeptOrder[];
  /** Whether the host has published a contact. */
  readonly hasContact: boolean;
  /** Simulated coins, with the base URL of `/sandbox/*`; null: coins are real. */
  readonly sandbox: { readonly url: string } | null;
  readonly forms: FormContext;
}
