/** Formats that all server pages share. */
import type { Server } from '../../spec/schemas/server.ts';
import type { ServerStatus } from '../../spec/states.ts';
import { statusBadge } from '../parts/components.ts';
import { formatMonths, usd } from '../parts/format.ts';
import type { Html } from '../parts/html.ts';

const STATUS_TONES: Record<ServerStatus, 'good' | 'busy' | 'off' | 'bad'> = {
  provisioning: 'busy',
  installing: 'busy',
  running: 'good',
  stopped: 'off',
  suspended: 'bad',
  destroying: 'busy',
};

export function serverStatusBadge(status: ServerStatus): Html {
  return statusBadge(status, STATUS_TONES[status]);
}

/** `$7.35 for 1 month`. */
export function formatCyclePrice(server: Pick<Server, 'price_usd_cycle' | 'billing_months'>): string {
  return `${usd(server.price_usd_cycle)} for ${formatMonths(server.billing_months)}`;
}

/** `$7.35/mo`, `$20.95 per 3 months`. */
export function shortPrice({
  price_usd_cycle: price,
  billing_months: months,
}: Pick<Server, 'price_usd_cycle' | 'billing_months'>): string {
  return months === 1 ? `${usd(price)}/mo` : `${usd(price)} per ${formatMonths(months)}`;
}
