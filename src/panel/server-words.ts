/** How servers are spoken of on all their pages. */
import type { Server } from '../spec/schemas/server.ts';
import type { ServerStatus } from '../spec/states.ts';
import type { Html } from './html.ts';
import { state, usd } from './parts.ts';

const TONES: Record<ServerStatus, 'good' | 'busy' | 'off' | 'bad'> = {
  provisioning: 'busy',
  installing: 'busy',
  running: 'good',
  stopped: 'off',
  suspended: 'bad',
  destroying: 'busy',
};

export function serverState(status: ServerStatus): Html {
  return state(status, TONES[status]);
}

/** `1 month`, `3 months`. */
export function monthsText(months: number): string {
  return months === 1 ? '1 month' : `${months} months`;
}

/** `$7.35 for 1 month`. */
export function cyclePrice(server: Pick<Server, 'price_usd_cycle' | 'billing_months'>): string {
  return `${usd(server.price_usd_cycle)} for ${monthsText(server.billing_months)}`;
}

/** MiB as one reads them: `512 MiB`, `4 GiB`. */
export function memoryText(mb: number): string {
  return mb < 1024 ? `${mb} MiB` : `${Math.round((mb / 1024) * 10) / 10} GiB`;
}
