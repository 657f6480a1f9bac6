import { readObstacles } from '../../../store/account-deletion.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { getOwnAccount } from '../own-account.ts';

/** What would be lost with the account if it were deleted now, and what keeps it from that. */
export interface Departure {
  readonly email: string;
  /** US dollars; a debt is nothing to lose. */
  readonly forfeited: number;
  /** How many would be destroyed with it. */
  readonly servers: number;
  /** A server is under a legal hold. */
  readonly held: boolean;
  /** A payment is on its way or held. */
  readonly paying: boolean;
}

export async function lookAtDeparture(service: Service, actor: CustomerActor): Promise<Departure> {
  const [{ email, balance }, { servers, held, paying }] = await Promise.all([
    getOwnAccount(service, actor),
    readObstacles(service.db, actor.customerId),
  ]);
  const forfeited = Math.max(balance, 0);
  return { email, forfeited, servers: Number(servers), held: held > 0n, paying };
}
