import { readDeletionBlockers } from '../../../store/customers/deletion.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { getOwnAccount } from '../own-account.ts';

/** The losses if the account were deleted now, and the reasons that prevent it. */
export interface DeletionPreview {
  readonly email: string;
  /** US dollars; 0 for a debt. */
  readonly forfeited: number;
  /** Number of servers deleted with it. */
  readonly servers: number;
  /** A server is under a legal hold. */
  readonly legalHold: boolean;
  /** Whether a payment is pending or withheld. */
  readonly paymentPending: boolean;
}

export async function previewDeletion(service: Service, actor: CustomerActor): Promise<DeletionPreview> {
  const [{ email, balance }, { servers, held, paying: paymentPending }] = await Promise.all([
    getOwnAccount(service, actor),
    readDeletionBlockers(service.db, actor.customerId),
  ]);
  const forfeited = Math.max(balance, 0);
  return { email, forfeited, servers: Number(servers), legalHold: held > 0n, paymentPending };
}
