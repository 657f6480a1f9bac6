import { readDeletionBlockers } from '../../../store/account-deletion.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { getOwnAccount } from '../own-account.ts';

/** What would be lost with the account if it were deleted now, and what keeps it from that. */
export interface DeletionPreview {
  readonly email: string;
  /** US dollars; a debt is nothing to lose. */
  readonly forfeited: number;
  /** How many would be destroyed with it. */
  readonly servers: number;
  /** A server is under a legal hold. */
  readonly legalHold: boolean;
  /** A payment is on its way or held. */
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
