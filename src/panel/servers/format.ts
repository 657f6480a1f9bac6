/** Formats that all server pages share. */
import type { Server } from '../../spec/schemas/server.ts';
import type { ServerStatus } from '../../spec/states.ts';
import { statusBadge, usd } from '../parts/components.ts';
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

/** `1 month`, `3 months`. */
export function formatMonths(months: number): string {
  return months === 1 ? '1 month' : `${months} months`;
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

/** Formats MiB: `512 MiB`, `4 GiB`. */
export function formatMemory(mb: number): string {
  return mb < 1024 ? `${mb}\u00a0MiB` : `${Math.round((mb / 1024) * 10) / 10}\u00a0GiB`;
}
